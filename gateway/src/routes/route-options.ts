import type { Accept } from '../accept/accept.ts'
import type { Admission } from '../admission/admission.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import type { ByteBudget } from '../body/byte-budget.ts'

/** The options of every route. A route accepts records only with `accept`, which counts them. */
export interface RouteOptions {
  accept: Accept
  admission: Admission
  limiter: KeyLimiter
  budget: ByteBudget
  turns: Turns
}
