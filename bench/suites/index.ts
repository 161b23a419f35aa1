import { batch } from './batch.ts'
import { capacity } from './capacity.ts'
import { feedback } from './feedback.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { scale } from './scale.ts'
import { soak } from './soak.ts'
import type { Suite } from './suite.ts'

/** In the order in which they run. */
export const suites: Readonly<Record<string, Suite>> = {
  capacity,
  latency,
  outage,
  scale,
  batch,
  feedback,
  soak,
}

/** All but the soak, which takes ten minutes of its own. */
export const defaultSuites = Object.keys(suites).filter((name) => name !== 'soak')
