import type { Alert } from '@intake/access'
import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { minuteMs } from '@intake/contract'
import type { StoredAlert } from '../webhook/forms/alert.ts'
import type { Evaluated } from './judge.ts'

/** A state that an alert took, as the view `intake.alert_changes` shows it. */
export interface AlertChange extends StoredAlert {
  evaluated_at: string
  /** The state that the last message reported. */
  told: 'ok' | 'firing'
  is_message: number
}

/** An alert with a longer window is evaluated after this part of it. */
const partOfWindow = 1 / 60
/** A state is valid for so long after the next evaluation was due. Then the view shows `unknown`. */
const graceMs = 4 * minuteMs

const periodMs = ({ minutes }: Pick<Alert, 'minutes'>) =>
  Math.max(minuteMs, minutes * partOfWindow * minuteMs)

/**
 * Whether an alert must be evaluated: half a minute before its time counts as its time, and so does
 * an evaluation in the future, of a time when the clock of ClickHouse was ahead.
 */
export const isDue = (
  alert: Pick<Alert, 'minutes'>,
  last: Pick<AlertChange, 'evaluated_at'> | undefined,
  nowMs: number,
): boolean =>
  last === undefined ||
  Math.abs(nowMs - Date.parse(isoTime(last.evaluated_at))) >= periodMs(alert) - minuteMs / 2

/** Reads the last change of each alert that was not removed, by its id. */
export async function readLastChanges(
  reader: Pick<ClickHouse, 'query'>,
): Promise<ReadonlyMap<string, AlertChange>> {
  // No change is ever deleted: whatever groups or sorts all of them needs more memory every day.
  const rows = await reader.query<AlertChange>(
    `SELECT * FROM intake.alert_changes
     WHERE (id, change) IN (SELECT id, change FROM intake.alert_states)`,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the row that the evaluation of an alert leaves: a new change, or its last one again. */
export function rowOf(
  { alert, state, found }: Evaluated,
  last: AlertChange | undefined,
  nowMs: number,
): Record<string, unknown> & Pick<AlertChange, 'id' | 'change' | 'is_message'> {
  const { bundle, versionName, createdAt, createdBy, ...definition } = alert
  const now = new Date(nowMs).toISOString()
  const isNew = last?.state !== state
  const toldBefore = last?.told ?? 'ok'
  const told = state === 'unknown' ? toldBefore : state
  const taken = { change: (last?.change ?? 0) + 1, since: now }
  const { change, since } = isNew ? taken : last
  return {
    ...definition,
    bundle_identifier: bundle,
    version_name: versionName,
    created_at: createdAt,
    created_by: createdBy,
    change,
    state,
    since,
    value: found.value ?? null,
    usual: found.usual ?? null,
    told,
    is_message: isNew ? Number(told !== toldBefore) : last.is_message,
    evaluated_at: now,
    valid_until: new Date(nowMs + periodMs(alert) + graceMs).toISOString(),
    is_removed: 0,
  }
}
