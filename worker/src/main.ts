import { WorkerConfig } from '@intake/config'
import { runProcess } from '@intake/runtime/process'
import { compose } from './compose.ts'

await runProcess({
  name: 'worker',
  config: WorkerConfig,
  closeTimeoutMs: () => 10_000,
  start: compose,
})
