import { limits } from '@intake/contract'
import {
  defineFindReservation,
  derivedTail,
  headerKey,
  isUuidV7,
  parseIdentity,
  type KeyScope,
} from '@intake/identity'
import { withRedisTimeout, type Redis } from '@intake/redis'
import type { RecordSearch } from './matches.ts'

/** A key as a client sent it: an `Idempotency-Key`, the id of a log event, or `feedback.id`. */
export interface SentKey {
  key: string
  bundleIdentifier: string
  deviceUuid: string
}

/** The id of a record or of a batch request, reserved for a key when the key first arrived. */
export interface Reservation {
  scope: KeyScope
  id: string
}

const scopes: KeyScope[] = ['logs', 'feedback', 'batches']
const timeoutMs = 10_000

export async function findReservations(
  redis: Redis,
  { key, ...owner }: SentKey,
): Promise<Reservation[]> {
  const find = defineFindReservation({ redis })
  // Gateways read header fields as Latin-1, as Node does; clients send UTF-8 or Latin-1.
  const forms = new Set([Buffer.from(key).toString('latin1'), key])
  const asked = scopes.flatMap((scope) => [...forms].map((form) => ({ scope, form })))
  const found = asked.map(async ({ scope, form }) => {
    const reading = find({ ...owner, scope, key: headerKey(form) })
    const id = await withRedisTimeout(redis, reading, timeoutMs)
    return id === undefined ? [] : [{ scope, id }]
  })
  return (await Promise.all(found)).flat()
}

export function searchOf(sent: SentKey, reservations: readonly Reservation[]): RecordSearch {
  const { bundleIdentifier, deviceUuid } = sent
  const own = headerKey(sent.key)
  const batch = reservations.find(({ scope }) => scope === 'batches')
  return {
    bundleIdentifier,
    deviceUuid: deviceUuid.toLowerCase(),
    // A log event with a UUIDv7 from the client has that id, and needs no reservation.
    ids: [
      ...(isUuidV7(own) ? [own] : []),
      ...reservations.filter(({ scope }) => scope !== 'batches').map(({ id }) => id),
    ],
    tails: batch && tailsOf(batch.id),
  }
}

/** The ends of the ids that a batch's entries can have; the rest is the time of an event. */
function tailsOf(batchId: string) {
  const batch = parseIdentity(batchId)
  const atMs = Date.parse(batch.time)
  return {
    of: Array.from({ length: limits.batchEntries }, (_, index) => derivedTail(batch, index)),
    from: new Date(atMs - limits.eventAgeMs),
    to: new Date(atMs + limits.eventAheadMs),
  }
}
