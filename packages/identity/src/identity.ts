import { hash, randomUUID } from 'node:crypto'
import { timeOfUuidV7 } from '@intake/contract'

/**
 * Identifies a record, together with its application and device. Fixed before the record is
 * acknowledged and never changed afterwards.
 */
export interface Identity {
  /** UUIDv7 in lower case. */
  id: string
  /** The time inside the id, ISO 8601 in UTC with milliseconds. */
  time: string
}

/**
 * Creates a new identity. Its random bits are those of a UUIDv4, which differs only in time and
 * version.
 *
 * @param timeMs milliseconds since 1970
 */
export function createIdentity(timeMs: number): Identity {
  const { digits, iso } = printed(timeMs)
  return { id: `${digits}-7${randomUUID().slice(15)}`, time: iso }
}

/**
 * Derives the identity of one record of a request with several: the same request, index and time always
 * give the same identity.
 */
export function deriveIdentity(request: Identity, index: number, timeMs: number): Identity {
  const { digits, iso } = printed(timeMs)
  return { id: `${digits}-${derivedTail(request, index)}`, time: iso }
}

/** What follows the time in the id of a derived identity: its last 22 characters. */
export function derivedTail(request: Identity, index: number): string {
  const random = hash('sha256', `${request.id} ${index}`)
  const variant = '89ab'[Number.parseInt(random.slice(3, 4), 16) % 4]
  return `7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}

/** @param id UUIDv7 in lower case */
export function parseIdentity(id: string): Identity {
  return { id, time: printed(timeOfUuidV7(id)).iso }
}

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** @param id in lower case */
export function isUuidV7(id: string): boolean {
  return uuidV7.test(id)
}

/** Cached, because most identities share the millisecond of another. */
let lastTime = print(0)

function printed(timeMs: number): typeof lastTime {
  if (timeMs !== lastTime.timeMs) lastTime = print(timeMs)
  return lastTime
}

/** @returns `digits`: the first 48 bits of a UUID, with its first hyphen */
function print(timeMs: number) {
  const hex = timeMs.toString(16).padStart(12, '0')
  return {
    timeMs,
    digits: `${hex.slice(0, 8)}-${hex.slice(8)}`,
    iso: new Date(timeMs).toISOString(),
  }
}
