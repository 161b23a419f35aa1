import { createHash } from 'node:crypto'
import { IntakeError, limits, type RecordKind } from '@intake/contract'
import { queueError } from '@intake/queue'
import { retryCommand } from '@intake/redis'
import { systemClock, type Clock } from '@intake/runtime'
import type { ReservationLedger } from './reservation-ledger.ts'
import type { Reserve, ReserveReply } from './reserve-script.ts'

export interface IdempotencyStore {
  /**
   * Resolves to the id that belongs to a key: the given one, or that of an earlier request with the
   * same key and fingerprint. A reservation lasts at least 72 hours, for feedback at least 30 days.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `idempotency_key_reused` when the earlier request had another fingerprint;
   * `keys_full` for a new key when there is no capacity for it; `queue_unavailable` when Redis does not
   * respond. In all cases nothing is stored
   */
  reserve(reservation: Reservation, deadline: number): Promise<string>
}

/** What a key identifies; keys in different scopes are different keys. */
export type KeyScope = RecordKind | 'batches'

export interface Reservation {
  scope: KeyScope
  /** The owner of the key: the same key from another device or application is a different key. */
  bundleIdentifier: string
  deviceUuid: string
  key: string
  /** The API key that the reservation is charged to. */
  apiKeyId: string
  /** Hash of everything that identifies the record: 48 bits in hexadecimal. */
  fingerprint: string
  /** UUID. */
  id: string
}

type SettledReply = Exclude<ReserveReply, 'other days' | 'more levels'>

const fieldBytes = 9
const idBytes = 16

/**
 * Stores reservations in Redis: 9 bytes of the key's hash map to the id and the fingerprint, 22 bytes.
 */
export function createIdempotencyStore(options: {
  reserve: Reserve
  ledger: Pick<ReservationLedger, 'buckets' | 'deepen' | 'hasRoom' | 'reserved' | 'refresh'>
  clock?: Clock
}): IdempotencyStore {
  const { reserve, ledger, clock = systemClock } = options

  /** Reserving is idempotent: if the reply was lost, the next attempt finds the reservation. */
  async function attempt(reservation: Reservation): Promise<SettledReply> {
    const { scope, apiKeyId, fingerprint, id } = reservation
    const kind = scope === 'feedback' ? 'feedback' : 'logs'
    const keyHash = hashKey(reservation)
    const buckets = ledger.buckets(kind, keyHash)
    const reply =
      buckets === undefined
        ? 'other days'
        : await reserve({
            ...buckets,
            field: keyHash.subarray(-fieldBytes),
            value: Buffer.from(id.replaceAll('-', '') + fingerprint, 'hex'),
            mayWrite: ledger.hasRoom(kind, apiKeyId),
            keptDays: limits.keyDays[kind],
          })
    if (reply === 'other days') {
      await ledger.refresh()
      throw new Error('the days of reservations have changed')
    }
    if (reply === 'more levels') {
      ledger.deepen(kind, buckets?.levels ?? 0)
      return attempt(reservation)
    }
    if (reply === 'reserved') ledger.reserved(kind, apiKeyId)
    return reply
  }

  async function untilAnswered(reservation: Reservation, deadline: number): Promise<SettledReply> {
    try {
      const what = 'reserving a key'
      return await retryCommand(() => attempt(reservation), { what, deadline, clock })
    } catch (cause) {
      throw queueError(cause)
    }
  }

  return {
    async reserve(reservation, deadline) {
      const reply = await untilAnswered(reservation, deadline)
      if (reply === 'reserved') return reservation.id
      if (reply === 'no room') {
        throw new IntakeError('keys_full', 'There is no room for a new idempotency key now.')
      }
      const fingerprint = reply.subarray(idBytes).toString('hex')
      if (fingerprint === reservation.fingerprint) return printUuid(reply.subarray(0, idBytes))
      throw new IntakeError(
        'idempotency_key_reused',
        'A record with another payload was sent under this key before.',
      )
    },
  }
}

function hashKey({ scope, bundleIdentifier, deviceUuid, key }: Reservation): Buffer {
  const name = JSON.stringify([scope, bundleIdentifier, deviceUuid.toLowerCase(), key])
  return createHash('sha256').update(name).digest()
}

function printUuid(bytes: Buffer): string {
  const digits = bytes.toString('hex')
  return [0, 8, 12, 16, 20].map((at, i) => digits.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}
