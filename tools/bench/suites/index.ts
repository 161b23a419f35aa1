import { capacity } from './capacity.ts'
import { feedback } from './feedback.ts'
import { latency } from './latency.ts'
import { outage } from './outage.ts'
import { peers } from './peers.ts'
import { shapes } from './shapes.ts'
import type { Suite } from './suite.ts'

export const suites: Readonly<Record<string, Suite>> = {
  capacity,
  latency,
  outage,
  shapes,
  feedback,
  peers,
}
