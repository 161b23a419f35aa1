import type { Admission } from '../admission/admission.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { OutcomeCounts } from '../report/outcome-counts.ts'
import type { GatewayPorts } from '../ports.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import type { ContextOf } from '../accept/request-context.ts'

/** Options that the log routes share. */
export interface LogRouteOptions {
  logs: GroupCommit
  outcomes: Pick<OutcomeCounts, 'count'>
  admission: Admission
  contextOf: ContextOf
  idempotency: IdempotencyStore
  policy: GatewayPorts['policy']
  budget: ByteBudget
  turns: Turns
  enqueueTimeoutMs: number
}
