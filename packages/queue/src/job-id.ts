import { randomUUID } from 'node:crypto'
import type { NewFrame } from './frame.ts'

/**
 * A UUIDv7 with the time of the oldest row, then the number of rows and their bytes, so that a
 * queue's content can be read from its ids (see backlog.ts).
 */
export function createJobId({ receivedAtMs, rows, jsonBytes }: NewFrame): string {
  const digits = Math.max(0, receivedAtMs).toString(16).padStart(12, '0')
  const uuid = `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`
  return `${uuid}-${rows}-${jsonBytes}`
}

/**
 * When the oldest row of the job arrived, in milliseconds since 1970; undefined if its id contains
 * no time.
 */
export function readJobTime(id: string): number | undefined {
  const digits = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id)
  return digits === null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

/** The content of a job according to its id, for a person; empty if the id contains nothing. */
export function readJobContent(id: string): {
  rows?: number
  jsonBytes?: number
  receivedAt?: string
} {
  const receivedAtMs = readJobTime(id)
  const [, rows, jsonBytes] = /-(\d+)-(\d+)$/.exec(id.slice(36)) ?? []
  if (receivedAtMs === undefined || rows === undefined) return {}
  return {
    rows: Number(rows),
    jsonBytes: Number(jsonBytes),
    receivedAt: new Date(receivedAtMs).toISOString(),
  }
}
