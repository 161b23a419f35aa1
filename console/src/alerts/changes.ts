import type { Alert } from '@intake/access'
import { isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { minuteMs } from '@intake/contract'
import type { StoredAlert } from '../webhook/forms/alert.ts'
import type { Evaluated } from './judge.ts'

/** A state that an alert took, as the view `intake.alert_changes` shows it. */
export interface AlertChange extends StoredAlert {
  evaluated_at: string
  /** The state that the last message reported. */
  told: 'ok' | 'firing'
  is_message: 0 | 1
  is_removed: 0 | 1
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

/** Reads the last change of each alert that was not removed, and what was told since `toldSince`. */
export async function readChanges(
  reader: Pick<ClickHouse, 'query'>,
  toldSince: Date,
): Promise<{ last: ReadonlyMap<string, AlertChange>; messages: AlertChange[] }> {
  // No change is ever deleted: whatever groups or sorts all of them needs more memory every day.
  const rows = await reader.query<AlertChange & Record<'is_last' | 'is_recent', 0 | 1>>(
    `SELECT *, (id, change) IN (SELECT id, change FROM intake.alert_states) AS is_last,
       is_message AND since >= {since:DateTime64(3, 'UTC')} AS is_recent
     FROM intake.alert_changes WHERE is_last OR is_recent`,
    { since: sqlTime(toldSince) },
  )
  const last = new Map<string, AlertChange>()
  const messages: AlertChange[] = []
  for (const { is_last: isLast, is_recent: isRecent, ...row } of rows) {
    if (isLast) last.set(row.id, row)
    if (isRecent) messages.push(row)
  }
  return { last, messages }
}

/** Returns the row that the evaluation of an alert leaves: a new change, or its last one again. */
export function rowOf(
  { alert, state, found }: Evaluated,
  last: AlertChange | undefined,
  nowMs: number,
): Record<string, unknown> & Pick<AlertChange, 'id' | 'change' | 'is_message'> {
  const { id, bundle, event, versionName, condition, threshold, unit, minutes } = alert
  const now = new Date(nowMs).toISOString()
  const isNew = last?.state !== state
  const toldBefore = last?.told ?? 'ok'
  const told = state === 'unknown' ? toldBefore : state
  const isMessage = isNew ? told !== toldBefore : last.is_message === 1
  return {
    id,
    change: isNew ? (last?.change ?? 0) + 1 : last.change,
    bundle_identifier: bundle,
    event,
    version_name: versionName,
    condition,
    threshold,
    unit,
    minutes,
    created_at: alert.createdAt,
    created_by: alert.createdBy,
    state,
    since: isNew ? now : isoTime(last.since),
    value: found.value ?? null,
    usual: found.usual ?? null,
    detail: found.detail ?? (isNew ? '' : last.detail),
    told,
    is_message: isMessage ? 1 : 0,
    evaluated_at: now,
    valid_until: new Date(nowMs + periodMs(alert) + graceMs).toISOString(),
    is_removed: 0,
  }
}

/** Returns the row that ends the states of an alert that was removed. */
export const removalOf = (last: AlertChange, nowMs: number): Record<string, unknown> => ({
  ...last,
  since: isoTime(last.since),
  created_at: new Date(0).toISOString(),
  created_by: '',
  evaluated_at: new Date(nowMs).toISOString(),
  valid_until: new Date(nowMs).toISOString(),
  is_removed: 1,
})
