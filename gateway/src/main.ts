import { checkGatewayConfig, GatewayConfig } from '@intake/config'
import { pause, runProcess } from '@intake/runtime'
import { compose } from './compose.ts'

/**
 * New connections that wait until the event loop takes them. Beyond them the kernel drops the first
 * packet of a connection, and its client waits a second before it sends it again. Linux allows
 * 4,096 by default (`net.core.somaxconn`); Node asks for 511.
 */
const newConnectionsMax = 4_096

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  closeTimeoutMs: ({ DRAIN_MS }) => DRAIN_MS + 10_000,
  async start(config, log, secrets, owner) {
    checkGatewayConfig(config)
    let isDraining = false
    const { app, startAdmin } = await compose({
      config,
      log,
      secrets,
      owner,
      isDraining: () => isDraining,
    })
    await app.listen({ host: config.HOST, port: config.PORT, backlog: newConnectionsMax })
    // Closed first: requests are finished while everything that they need still works.
    owner.add(async () => {
      isDraining = true
      if (config.DRAIN_MS > 0) await pause(config.DRAIN_MS)
      await app.close()
    })
    const { port } = await startAdmin()
    log.info({ adminPort: port }, 'gateway is up')
  },
})
