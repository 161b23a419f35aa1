import { GatewayConfig } from '@intake/config'
import { isReady } from '@intake/health'
import { pause } from '@intake/runtime'
import { runProcess } from '@intake/runtime/process'
import { compose } from './compose.ts'

/**
 * The maximum number of new connections that wait until the event loop accepts them. The kernel
 * drops the first packet of further connections, and their clients wait a second before they send
 * it again. Linux allows 4,096 by default (`net.core.somaxconn`); Node asks for 511.
 */
const newConnectionsMax = 4_096
/**
 * A proxy that does not check readiness sends as soon as the port is open. So the port is opened
 * when the gateway is ready, or after this time, to say that it is not.
 */
const readyMsMax = 3_000

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  closeTimeoutMs: ({ DRAIN_MS }) => DRAIN_MS + 10_000,
  async start(context) {
    const { config, log, owner } = context
    const { app, startAdmin, problems, leave } = await compose(context)
    for (let ms = 0; ms < readyMsMax && !isReady(problems.present()); ms += 20) await pause(20)
    await app.listen({ host: config.HOST, port: config.PORT, backlog: newConnectionsMax })
    // The application is closed first, so that requests are finished while everything that they
    // need still works.
    owner.add(async () => {
      leave()
      if (config.DRAIN_MS > 0) await pause(config.DRAIN_MS)
      await app.close()
    })
    const { port } = await startAdmin()
    log.info({ adminPort: port }, 'gateway is up')
  },
})
