import type { Accept } from '../accept/accept.ts'
import type { Admission } from '../admission/admission.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import type { ByteBudget } from '../body/byte-budget.ts'

/** What every route needs: it accepts records with `accept` only, which counts them. */
export interface RouteOptions {
  accept: Accept
  admission: Admission
  budget: ByteBudget
  turns: Turns
}
