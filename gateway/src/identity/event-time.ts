import { IntakeError, limits } from '@intake/contract'
import { timeOfUuidV7 } from './identity.ts'

/** Whether a time is plausible: within 30 days before and 10 minutes after `nowMs`. */
function isInWindow(timeMs: number, nowMs: number): boolean {
  return timeMs >= nowMs - limits.eventAgeMs && timeMs <= nowMs + limits.eventAheadMs
}

/**
 * The time of an event: the time that the device sent, if it is plausible, otherwise `nowMs`.
 *
 * @param timestamp ISO 8601
 * @param nowMs when the event arrived, in milliseconds since 1970
 */
export function eventTimeMs(timestamp: string | null | undefined, nowMs: number): number {
  if (timestamp == null) return nowMs
  const timeMs = Date.parse(timestamp)
  return isInWindow(timeMs, nowMs) ? timeMs : nowMs
}

/**
 * Outside the window a retry could not be distinguished from a new event indefinitely, and retention
 * may have dropped its month.
 *
 * @param id UUIDv7
 * @throws {IntakeError} `id_time_out_of_range`, with the time of this clock
 */
export function requireIdInWindow(id: string, nowMs: number): void {
  if (isInWindow(timeOfUuidV7(id), nowMs)) return
  throw new IntakeError(
    'id_time_out_of_range',
    'The time in the id must lie within 30 days before and 10 minutes after server_time.',
    { members: { server_time: new Date(nowMs).toISOString() } },
  )
}
