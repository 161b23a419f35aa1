import { WorkerConfig } from '@intake/config'
import { connectOnlyToOwnUser, parseOwnPorts, runProcess } from '@intake/runtime'
import { compose } from './compose.ts'

await runProcess({
  name: 'worker',
  config: WorkerConfig,
  closeTimeoutMs: () => 10_000,
  async start(config, log, secrets, owner) {
    connectOnlyToOwnUser(parseOwnPorts(config.OWN_PORTS))
    await compose({ config, log, secrets, owner })
  },
})
