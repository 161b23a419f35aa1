import { batch } from './batch.ts'
import { capacity } from './capacity.ts'
import { feedback } from './feedback.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { queries } from './queries.ts'
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
  queries,
  soak,
}

/** These suites are not part of a default run, because they take many minutes. */
const separateSuites = new Set(['queries', 'soak'])

export const defaultSuites = Object.keys(suites).filter((name) => !separateSuites.has(name))
