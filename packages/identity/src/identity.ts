import { hash, randomUUID } from 'node:crypto'
import { timeOfUuidV7 } from '@intake/contract'

/**
 * Identifies a record, together with its application and device. It is fixed before the record is
 * acknowledged and never changes.
 */
export interface Identity {
  /** UUIDv7 in lower case. */
  id: string
  /** The time inside the id, ISO 8601 in UTC with milliseconds. */
  time: string
}

/**
 * Creates a new identity. Its random bits are those of a UUIDv4, whose other bits are the time and
 * version in a UUIDv7.
 *
 * @param timeMs milliseconds since 1970
 */
export function createIdentity(timeMs: number): Identity {
  return { id: `${digitsOf(timeMs)}-7${randomUUID().slice(15)}`, time: isoTime(timeMs) }
}

/**
 * Derives the identity of one record of a request with several: the same request, index and time
 * always give the same identity.
 */
export function deriveIdentity(request: Identity, index: number, timeMs: number): Identity {
  return { id: `${digitsOf(timeMs)}-${derivedTail(request, index)}`, time: isoTime(timeMs) }
}

/** The part of a derived identity's id after the time: its last 22 characters. */
export function derivedTail(request: Identity, index: number): string {
  const random = hash('sha256', `${request.id} ${index}`)
  const variant = '89ab'[Number.parseInt(random.slice(3, 4), 16) % 4]
  return `7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}

/** @param id UUIDv7 in lower case */
export function parseIdentity(id: string): Identity {
  return { id, time: isoTime(timeOfUuidV7(id)) }
}

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** @param id in lower case */
export function isUuidV7(id: string): boolean {
  return uuidV7.test(id)
}

// Both are cached, because most times are in the same millisecond as the one before.
let lastIso = { timeMs: 0, iso: '1970-01-01T00:00:00.000Z' }
let lastDigits = { timeMs: 0, digits: printDigits(0) }

/** Prints a time in milliseconds since 1970 as ISO 8601, in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  if (timeMs !== lastIso.timeMs) lastIso = { timeMs, iso: printIso(timeMs) }
  return lastIso.iso
}

const dayMs = 86_400_000
/** The date includes the `T`, like `2026-11-21T`. */
let lastDay = { day: 0, date: '1970-01-01T' }
const digits = (count: number) =>
  Array.from({ length: 10 ** count }, (_, n) => String(n).padStart(count, '0'))
const twoDigits = digits(2)
const threeDigits = digits(3)

/**
 * Like `toISOString`, in a fifth of the time, by reusing the date: the times of a batch's entries
 * differ, but are usually on one day.
 */
function printIso(timeMs: number): string {
  const day = Math.floor(timeMs / dayMs)
  if (day !== lastDay.day) {
    lastDay = { day, date: new Date(day * dayMs).toISOString().slice(0, -13) }
  }
  const ms = timeMs - day * dayMs
  const seconds = Math.floor(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  const time = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}`
  return `${lastDay.date}${time}:${twoDigits[seconds % 60]}.${threeDigits[Math.floor(ms % 1_000)]}Z`
}

/** The first 48 bits of a UUIDv7 in hexadecimal, with its first hyphen. */
function digitsOf(timeMs: number): string {
  if (timeMs !== lastDigits.timeMs) lastDigits = { timeMs, digits: printDigits(timeMs) }
  return lastDigits.digits
}

function printDigits(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
