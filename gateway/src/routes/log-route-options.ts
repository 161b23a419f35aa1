import type { Admission } from '../admission.ts'
import type { ByteBudget } from '../byte-budget.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { Turns } from '../turns.ts'

/** Options that the log routes share. */
export interface LogRouteOptions {
  logs: GroupCommit
  admission: Admission
  idempotency: IdempotencyStore
  budget: ByteBudget
  turns: Turns
  enqueueTimeoutMs: number
}
