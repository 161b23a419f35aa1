import { batch } from './batch.ts'
import { capacity } from './capacity.ts'
import { feedback } from './feedback.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { scale } from './scale.ts'
import { soak } from './soak.ts'
import type { Suite } from './suite.ts'

/** The suites, in the order of execution. */
export const suites: Readonly<Record<string, Suite>> = {
  capacity,
  latency,
  outage,
  scale,
  batch,
  feedback,
  soak,
}

/** A default run leaves out the soak, because it takes many minutes. */
export const defaultSuites = Object.keys(suites).filter((name) => name !== 'soak')
