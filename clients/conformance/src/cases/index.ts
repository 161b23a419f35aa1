import type { ConformanceCase } from '../conformance-case.ts'
import { delivery } from './delivery.ts'
import { durability } from './durability.ts'
import { feedback } from './feedback.ts'
import { lateStorage } from './late-storage.ts'
import { bounds, clock, optOut, pageEnd } from './platform.ts'
import { refusals } from './refusals.ts'
import { retries } from './retries.ts'
import { size } from './size.ts'

/** Every case, in the order in which they run and are printed. */
export const cases: readonly ConformanceCase[] = [
  ...delivery,
  ...retries,
  ...refusals,
  ...size,
  ...durability,
  ...feedback,
  ...clock,
  ...bounds,
  ...lateStorage,
  ...pageEnd,
  ...optOut,
]
