import { IntakeError, limits } from '@intake/contract'
import { timeOfUuidV7 } from './identity.ts'

/** Whether a moment is near enough to `nowMs` to be believed: 30 days before to 10 minutes after. */
function isInWindow(timeMs: number, nowMs: number): boolean {
  return timeMs >= nowMs - limits.eventAgeMs && timeMs <= nowMs + limits.eventAheadMs
}

/**
 * The moment of an event, as far as it can be believed: what the device says, or else `nowMs`.
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
 * Outside the window a repeat could not be told from a new event for ever, and retention may have
 * dropped its month.
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
