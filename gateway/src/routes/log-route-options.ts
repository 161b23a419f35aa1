import type { Admission } from '../admission/admission.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { GatewayPorts } from '../ports.ts'
import type { Turns } from '../fairness/turns.ts'

/** Options that the log routes share. */
export interface LogRouteOptions {
  logs: GroupCommit
  admission: Admission
  idempotency: IdempotencyStore
  policy: GatewayPorts['policy']
  budget: ByteBudget
  turns: Turns
  enqueueTimeoutMs: number
}
