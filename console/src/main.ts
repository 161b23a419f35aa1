import { ConsoleConfig } from '@intake/config'
import { runProcess } from '@intake/runtime/process'
import { compose } from './compose.ts'

await runProcess({
  name: 'console',
  config: ConsoleConfig,
  closeTimeoutMs: () => 10_000,
  start: compose,
})
