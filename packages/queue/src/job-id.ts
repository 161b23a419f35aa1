import { createUuidV7, timeOfUuidV7 } from '@intake/contract'
import type { NewFrame } from './frame.ts'

/**
 * Creates the id of a frame's job: a UUIDv7 with the time of the oldest row, then the number of
 * rows and their bytes, so that a queue's content can be read from its ids (see backlog.ts).
 */
export function createJobId({ receivedAtMs, rows, jsonBytes }: NewFrame): string {
  return `${createUuidV7(Math.max(0, receivedAtMs))}-${rows}-${jsonBytes}`
}

/**
 * Returns when the oldest row of the job arrived, in milliseconds since 1970; undefined if its id
 * contains no time.
 */
export function readJobTime(id: string): number | undefined {
  return /^[\da-f]{8}-[\da-f]{4}-7/.test(id) ? timeOfUuidV7(id) : undefined
}
