import { checkGatewayConfig, GatewayConfig } from '@intake/config'
import { pause } from '@intake/runtime'
import { runProcess } from '@intake/runtime/process'
import { compose } from './compose.ts'

/**
 * The maximum number of new connections that wait until the event loop accepts them. The kernel
 * drops the first packet of further connections, and their clients wait a second before they send
 * it again. Linux allows 4,096 by default (`net.core.somaxconn`); Node asks for 511.
 */
const newConnectionsMax = 4_096

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  check: checkGatewayConfig,
  closeTimeoutMs: ({ DRAIN_MS }) => DRAIN_MS + 10_000,
  async start(config, log, secrets, owner) {
    let isDraining = false
    const { app, startAdmin, leave } = await compose({
      config,
      log,
      secrets,
      owner,
      isDraining: () => isDraining,
    })
    await app.listen({ host: config.HOST, port: config.PORT, backlog: newConnectionsMax })
    // The application is closed first, so that requests are finished while everything that they
    // need still works.
    owner.add(async () => {
      isDraining = true
      leave()
      if (config.DRAIN_MS > 0) await pause(config.DRAIN_MS)
      await app.close()
    })
    const { port } = await startAdmin()
    log.info({ adminPort: port }, 'gateway is up')
  },
})
