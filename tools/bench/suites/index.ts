import { batch } from './batch.ts'
import { capacity } from './capacity.ts'
import { feedback } from './feedback.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { peers } from './peers.ts'
import { scale } from './scale.ts'
import type { Suite } from './suite.ts'

export const suites: Readonly<Record<string, Suite>> = {
  capacity,
  peers,
  latency,
  outage,
  scale,
  batch,
  feedback,
}
