import { batch } from './batch.ts'
import { capacity } from './capacity.ts'
import { drain } from './drain.ts'
import { feedback } from './feedback.ts'
import { ids } from './ids.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { queries } from './queries.ts'
import { rateLimit } from './rate-limit.ts'
import { scale } from './scale.ts'
import { shards } from './shards.ts'
import { soak } from './soak.ts'
import type { Suite } from './suite.ts'
import { tracing } from './tracing.ts'

/** In the order of execution. */
export const suites: Readonly<Record<string, Suite>> = {
  capacity,
  latency,
  outage,
  scale,
  batch,
  feedback,
  drain,
  ids,
  queries,
  tracing,
  shards,
  'rate-limit': rateLimit,
  soak,
}

/** Not part of a default run, because they take many minutes. */
export const separateSuites = ['drain', 'ids', 'queries', 'tracing', 'shards', 'rate-limit', 'soak']

export const defaultSuites = Object.keys(suites).filter((name) => !separateSuites.includes(name))
