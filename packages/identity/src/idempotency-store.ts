import { IntakeError, limits } from '@intake/contract'
import { queueError } from '@intake/queue/error'
import { commandRetries } from '@intake/redis'
import { retryUntil, systemClock, type Clock } from '@intake/runtime'
import type { ReservationLedger } from './reservation-ledger.ts'
import {
  fieldOf,
  hashKey,
  kindOfScope,
  parseReserved,
  printReserved,
  type ClientKey,
  type Reserved,
} from './reservation.ts'
import type { Reserve, ReserveReply } from './reserve-script.ts'

export interface IdempotencyStore {
  /**
   * Resolves to the id that belongs to a key: the given id, or the id of an earlier request with
   * the same key and fingerprint. A reservation lasts for `limits.keyDays`.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `idempotency_key_reused` when the earlier request had another
   * fingerprint; `keys_full` when the key is new and there is no capacity for it;
   * `queue_unavailable` when Redis does not respond. After each of these errors the record must not
   * be stored
   */
  reserve(reservation: Reservation, deadline: number): Promise<string>
}

export interface Reservation extends ClientKey, Reserved {
  /** The API key that the reservation is charged to. */
  apiKeyId: string
}

type SettledReply = Exclude<ReserveReply, 'other days' | 'more levels'>

/**
 * Stores reservations in Redis. For each key, Redis holds 31 bytes: 9 bytes of the key's hash, and
 * 22 bytes for the id and the fingerprint.
 */
export function createIdempotencyStore(options: {
  reserve: Reserve
  ledger: Pick<ReservationLedger, 'buckets' | 'deepen' | 'hasRoom' | 'reserved' | 'refresh'>
  clock?: Clock
}): IdempotencyStore {
  const { reserve, ledger, clock = systemClock } = options

  /**
   * Makes one attempt to reserve a key. If the reply is lost, the next attempt finds the
   * reservation.
   */
  async function attempt(reservation: Reservation): Promise<SettledReply> {
    const { scope, apiKeyId } = reservation
    const kind = kindOfScope(scope)
    const keyHash = hashKey(reservation)
    const buckets = ledger.buckets(kind, keyHash)
    const reply =
      buckets === undefined
        ? 'other days'
        : await reserve({
            ...buckets,
            field: fieldOf(keyHash),
            value: printReserved(reservation),
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

  async function reserveInTime(reservation: Reservation, deadline: number): Promise<SettledReply> {
    try {
      return await retryUntil(() => attempt(reservation), {
        ...commandRetries,
        what: 'reserving a key',
        deadline,
        clock,
      })
    } catch (cause) {
      throw queueError(cause)
    }
  }

  return {
    async reserve(reservation, deadline) {
      const reply = await reserveInTime(reservation, deadline)
      if (reply === 'reserved') return reservation.id
      if (reply === 'no room') {
        throw new IntakeError('keys_full', 'There is no room for a new idempotency key now.')
      }
      const found = parseReserved(reply)
      if (found.fingerprint === reservation.fingerprint) return found.id
      throw new IntakeError(
        'idempotency_key_reused',
        'A record with another payload was sent under this key before.',
      )
    },
  }
}
