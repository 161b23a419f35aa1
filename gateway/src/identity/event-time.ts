import { dayMs, IntakeError, limits, timeOfUuidV7 } from '@intake/contract'

/** Whether a time is plausible: not older than `ageMs`, and at most 10 minutes after `nowMs`. */
function isInWindow(timeMs: number, nowMs: number, ageMs: number): boolean {
  return timeMs >= nowMs - ageMs && timeMs <= nowMs + limits.eventAheadMs
}

/**
 * Returns the maximum age of an event, in milliseconds: 30 days, or the retention if that is
 * shorter.
 *
 * @param retentionMs undefined if records are kept without limit
 */
function ageMax(retentionMs: number | undefined): number {
  return Math.min(limits.eventAgeMs, retentionMs ?? Infinity)
}

/**
 * Returns the time of an event, in milliseconds since 1970: the time that the device sent, if it is
 * plausible, otherwise `nowMs`.
 *
 * @param timestamp the time that the device sent, in ISO 8601
 * @param nowMs when the event arrived, in milliseconds since 1970
 * @param retentionMs undefined if records are kept without limit
 */
export function eventTimeMs(
  timestamp: string | null | undefined,
  nowMs: number,
  retentionMs?: number,
): number {
  if (timestamp == null) return nowMs
  const timeMs = Date.parse(timestamp)
  return isInWindow(timeMs, nowMs, ageMax(retentionMs)) ? timeMs : nowMs
}

/**
 * Refuses an id whose time is not plausible (see `isInWindow`). So the rows of one insert lie in at
 * most three monthly partitions. A retry is refused if retention may have dropped the month of the
 * first attempt.
 *
 * @param id a UUIDv7 that a client has sent
 * @param retentionMs undefined if records are kept without limit
 * @throws {IntakeError} `id_time_out_of_range`, with the time of the gateway's clock
 */
export function requireIdInWindow(id: string, nowMs: number, retentionMs?: number): void {
  const ageMs = ageMax(retentionMs)
  if (isInWindow(timeOfUuidV7(id), nowMs, ageMs)) return
  throw outOfRange(
    `The time in the id must lie within ${ageMs / dayMs} days before and 10 minutes after server_time.`,
    nowMs,
  )
}

/**
 * Refuses an id that is older than the retention period. An earlier attempt may have stored the
 * record with this id, and retention may then have dropped that record. Storing it again would make
 * the record reappear.
 *
 * @throws {IntakeError} `id_time_out_of_range`, with the time of the gateway's clock
 */
export function requireKept(id: string, nowMs: number, retentionMs: number | undefined): void {
  if (retentionMs === undefined || timeOfUuidV7(id) >= nowMs - retentionMs) return
  throw outOfRange('The key belongs to a record that is older than the retention period.', nowMs)
}

function outOfRange(detail: string, nowMs: number): IntakeError {
  const members = { server_time: new Date(nowMs).toISOString() }
  return new IntakeError('id_time_out_of_range', detail, { members })
}
