import { textBytes } from './text-bytes.ts'
import { shiftUuid, timeOfUuid } from './uuid.ts'

/** A log event as it is stored and sent. */
export interface LogEntry {
  id: string
  event: string
  params: unknown
  /** The time of the device's clock, if it differs from the time in the id. */
  timestamp?: string | undefined
  sequence?: number | undefined
}

/**
 * Returns the event with the time in its id shifted by `ms`. An event without a timestamp then gets
 * one: the time in its id before the shift, which is the time of the device's clock.
 */
export const shiftEntry = (entry: LogEntry, ms: number): LogEntry => {
  if (!ms) return entry
  const { id, timestamp = isoTime(timeOfUuid(id)) } = entry
  return { ...entry, id: shiftUuid(id, ms), timestamp }
}

export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** The size of a value as JSON. */
export const jsonBytes = (value: unknown): number => textBytes(JSON.stringify(value))
