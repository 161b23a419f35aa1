import { randomUUID } from 'node:crypto'
import type { NewFrame } from './frame.ts'

/**
 * A UUIDv7 with the time of the oldest row, then the number of rows and their bytes: the ids in a queue
 * tell what it holds (see backlog.ts).
 */
export function createJobId({ receivedAtMs, rows, jsonBytes }: NewFrame): string {
  const digits = Math.max(0, receivedAtMs).toString(16).padStart(12, '0')
  const uuid = `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`
  return `${uuid}-${rows}-${jsonBytes}`
}

/** When the oldest row of the job arrived, in milliseconds since 1970; undefined: its id does not tell. */
export function readJobTime(id: string): number | undefined {
  const digits = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id)
  return digits === null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}
