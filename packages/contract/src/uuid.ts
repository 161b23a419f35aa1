import { randomUUID } from 'node:crypto'

export const uuidPattern =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const uuid = new RegExp(uuidPattern)

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** @param digits at least 32, in hexadecimal */
export function printUuid(digits: string): string {
  return [0, 8, 12, 16, 20].map((at, i) => digits.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}

/** @returns the time inside a UUIDv7, in milliseconds since 1970 */
export function timeOfUuidV7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/**
 * Takes the random bits of a UUIDv4.
 *
 * @param timeMs milliseconds since 1970
 */
export function createUuidV7(timeMs: number): string {
  return `${uuidTime(timeMs)}-7${randomUUID().slice(15)}`
}

// Consecutive calls often have the same millisecond.
let last = { timeMs: 0, digits: printTime(0) }

/**
 * The start of a UUIDv7: 12 hexadecimal digits, with a hyphen after the eighth.
 *
 * @param timeMs milliseconds since 1970
 */
export function uuidTime(timeMs: number): string {
  if (timeMs !== last.timeMs) last = { timeMs, digits: printTime(timeMs) }
  return last.digits
}

function printTime(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
