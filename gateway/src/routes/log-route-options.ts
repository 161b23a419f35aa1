import type { Admission } from '../admission.ts'
import type { ByteBudget } from '../byte-budget.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { Reservations } from '../idempotency.ts'
import type { Turns } from '../turns.ts'

/** What the routes that take log events share. */
export interface LogRouteOptions {
  logs: GroupCommit
  admission: Admission
  reservations: Reservations
  budget: ByteBudget
  turns: Turns
  enqueueDeadlineMs: number
}
