import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { stringify } from 'safe-stable-stringify'
import { IntakeError, limits, type LogEntry, type RecordKind, type Sender } from '@intake/contract'
import { ReplyError, type Redis } from '@intake/redis'
import { withDeadline } from '@intake/runtime'
import { createIdentity, identityOf, type Identity } from './identity.ts'

export interface Reservations {
  /**
   * Resolves to the id that belongs to `key`: the given one, or that of an earlier request with the
   * same key and the same fingerprint. A reservation holds for 72 hours.
   *
   * @param deadline on the clock of `performance.now()`, in milliseconds
   * @throws {IntakeError} `idempotency_key_reused` when the earlier request had another fingerprint;
   * `queue_unavailable` when Redis does not answer (nothing is stored then)
   */
  reserve(reservation: Reservation, deadline: number): Promise<string>
}

/** What a key stands for; the same key in another scope is another key. */
export type KeyScope = RecordKind | 'batches'

export interface Reservation {
  scope: KeyScope
  /** Who chose the key: the same key of another device is another key. */
  deviceUuid: string
  key: string
  /** Of everything that makes the record what it is. */
  fingerprint: string
  id: string
}

/** 128 bits: enough that no two meet, and half the memory of Redis. */
const shortHash = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)

const holdMs = 72 * 60 * 60 * 1000
const attemptMs = 1_500
const pauseMs = 100

export function createReservations({ redis }: { redis: Redis }): Reservations {
  return {
    async reserve({ scope, deviceUuid, key, fingerprint, id }, deadline) {
      const name = `{intake}:idempotency:${shortHash(`${scope} ${deviceUuid.toLowerCase()} ${key}`)}`
      const existing = await untilAnswered(
        () => redis.set(name, `${id} ${fingerprint}`, 'PX', holdMs, 'NX', 'GET'),
        deadline,
      )
      if (existing === null) return id
      const [reservedId, reservedFingerprint] = existing.split(' ')
      if (reservedId !== undefined && reservedFingerprint === fingerprint) return reservedId
      throw new IntakeError(
        'idempotency_key_reused',
        'A record with another payload was sent under this key in the last 72 hours.',
      )
    },
  }
}

/** A reservation may be made twice: when the answer to it was lost, it is found to be there. */
async function untilAnswered<T>(reserve: () => Promise<T>, deadline: number): Promise<T> {
  for (;;) {
    try {
      const left = Math.max(deadline - performance.now(), 0)
      return await withDeadline(reserve(), Math.min(attemptMs, left), 'reserving a key')
    } catch (cause) {
      if (cause instanceof ReplyError || performance.now() + pauseMs >= deadline) {
        throw new IntakeError('queue_unavailable', 'The queue cannot be reached.', { cause })
      }
    }
    await pause(pauseMs)
  }
}

/**
 * The `Idempotency-Key` of a request, if it has one.
 *
 * @throws {IntakeError} `invalid_request` when it is empty or too long
 */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key !== '' && key.length <= limits.identifierLength) return key
  throw new IntakeError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${limits.identifierLength} characters.`,
  )
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/**
 * The idempotency key in the id that a client gave a record. A client that has none for it may send
 * `null` or the nil UUID.
 */
export function keyOfUuid(id: string | null | undefined): string | undefined {
  return id == null || id === nilUuid ? undefined : id
}

/**
 * A UUID is the same one in capitals, which some clients print in one place and not in another. Any
 * other key is taken as it is.
 */
const canonical = (key: string) => (uuid.test(key) ? key.toLowerCase() : key)
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * What makes a log event what it is, for `identify`: the same through both operations, so a client may
 * repeat a single event in a batch. When the device says it happened is not part of it.
 */
export function logContent(sender: Sender, { event, params }: LogEntry): readonly unknown[] {
  return [sender.bundle_identifier, sender.unique_user_id, event, params ?? {}]
}

/**
 * The identity of a record: a new one, or with an idempotency key the one that is reserved for it,
 * so that a repeated request makes the same row again.
 *
 * @param options.content what is stored of the record, but not the device: its battery goes down
 * between two attempts. In objects the order of names does not count: clients may print it anew for
 * every attempt
 * @throws {IntakeError} as `Reservations.reserve`
 */
export function identify(options: {
  reservations: Reservations
  scope: KeyScope
  deviceUuid: string
  key: string | undefined
  content: readonly unknown[]
  deadline: number
}): Identity | Promise<Identity> {
  const { reservations, scope, deviceUuid, key, content, deadline } = options
  const fresh = createIdentity()
  if (key === undefined) return fresh
  const fingerprint = shortHash(stringify(content))
  const reservation = { scope, deviceUuid, key: canonical(key), fingerprint, id: fresh.id }
  return reservations.reserve(reservation, deadline).then(identityOf)
}
