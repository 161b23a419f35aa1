import { dayMs, IntakeError, limits, timeOfUuidV7 } from '@intake/contract'
import type { Sender } from '@intake/contract/schemas'
import {
  createIdentity,
  isUuidV7,
  parseIdentity,
  type Identity,
  type KeyScope,
  type IdempotencyStore,
} from '@intake/identity'

/**
 * Assigns the identity of a record. If the client gave a log event a UUIDv7, that is the identity
 * of the event: a retry has the same id, so nothing is reserved. Any other id of the client, and
 * the `Idempotency-Key`, are reserved together with the identity of the first attempt. A record
 * without a client's id and without a key gets a new identity.
 *
 * It returns a promise only if something is reserved, because a promise costs 2 % of the CPU time of
 * an event of a batch.
 *
 * @param options.clientId the client's id for the record, from `clientIdKey`; undefined if there is
 * none
 * @param options.key the `Idempotency-Key` of the request; it is reserved even if the client also
 * sent an id
 * @param options.nowMs when the record arrived, in milliseconds since 1970
 * @param options.timeMs returns the time of the event (see `eventTimeMs`); not called if the
 * identity is a UUIDv7 from the client
 * @param options.fingerprint returns the hash of the stored content without the device, because the
 * device's battery level changes between attempts
 * @throws {IntakeError} `id_time_out_of_range`; `idempotency_key_reused`, also when the key and the
 * client's id belong to different records; and the errors of `IdempotencyStore.reserve`
 */
export function assignIdentity(options: {
  store: IdempotencyStore
  scope: KeyScope
  apiKeyId: string
  sender: Sender
  clientId: string | undefined
  key: string | undefined
  nowMs: number
  timeMs: () => number
  retentionMs: number | undefined
  fingerprint: () => string
  deadline: number
}): Identity | Promise<Identity> {
  const { store, scope, apiKeyId, sender, clientId, key, nowMs, timeMs, retentionMs, deadline } =
    options
  const isOwn = scope === 'logs' && clientId !== undefined && isUuidV7(clientId)
  if (isOwn) requireIdInWindow(clientId, nowMs, retentionMs)
  const identity = isOwn ? parseIdentity(clientId) : createIdentity(timeMs())
  const reservedId = isOwn ? undefined : clientId
  if (reservedId === undefined && key === undefined) return identity

  const { bundle_identifier: bundleIdentifier, device_uuid: deviceUuid } = sender
  const about = {
    scope,
    apiKeyId,
    bundleIdentifier,
    deviceUuid,
    fingerprint: options.fingerprint(),
  }
  const keys = [reservedId, key].filter((one) => one !== undefined)
  return reserveAll(keys, identity.id)

  async function reserveAll(names: string[], id: string): Promise<Identity> {
    let common = isOwn ? id : undefined
    for (const name of names) {
      const found = await store.reserve({ ...about, key: name, id: common ?? id }, deadline)
      if (common !== undefined && found !== common) throw otherRecord()
      common = found
    }
    requireKept(common ?? id, nowMs, retentionMs)
    return parseIdentity(common ?? id)
  }
}

/** The record that was sent is not stored, so a success with the id of another would be wrong. */
function otherRecord(): IntakeError {
  return new IntakeError(
    'idempotency_key_reused',
    'The Idempotency-Key was sent before with another id, or without one.',
  )
}

function isInWindow(timeMs: number, nowMs: number, ageMs: number): boolean {
  return timeMs >= nowMs - ageMs && timeMs <= nowMs + limits.eventAheadMs
}

/** The maximum age of an event: 30 days, or less if later ones have been dropped. */
function ageMax(retentionMs: number | undefined): number {
  return Math.min(limits.eventAgeMs, retentionMs ?? Infinity)
}

/**
 * Returns the time that the device sent, if it is plausible, otherwise `nowMs`.
 *
 * @param timestamp in ISO 8601
 * @param retentionMs undefined if nothing has been dropped
 */
export function eventTimeMs(
  timestamp: string | null | undefined,
  nowMs: number,
  retentionMs?: number,
): number {
  if (timestamp == null) return nowMs
  const timeMs = Date.parse(timestamp)
  return isInWindow(timeMs, nowMs, ageMax(retentionMs)) ? timeMs : nowMs
}

/**
 * Refuses an id whose time is not plausible (see `isInWindow`). So the rows of one insert lie in at
 * most three monthly partitions. A retry is refused if retention may have dropped the month of the
 * first attempt.
 *
 * @param id a UUIDv7 that a client has sent
 * @param retentionMs undefined if nothing has been dropped
 * @throws {IntakeError} `id_time_out_of_range`, with the time of the gateway's clock
 */
function requireIdInWindow(id: string, nowMs: number, retentionMs?: number): void {
  const ageMs = ageMax(retentionMs)
  if (isInWindow(timeOfUuidV7(id), nowMs, ageMs)) return
  const days = Math.floor((10 * ageMs) / dayMs) / 10
  throw outOfRange(
    `The time in the id must lie within ${days} days before and 10 minutes after server_time.`,
    nowMs,
  )
}

/**
 * Refuses an id that is older than what has been dropped. An earlier attempt may have stored the
 * record with this id, and storing it again would make the record reappear.
 *
 * @throws {IntakeError} `id_time_out_of_range`, with the time of the gateway's clock
 */
export function requireKept(id: string, nowMs: number, retentionMs: number | undefined): void {
  if (retentionMs === undefined || timeOfUuidV7(id) >= nowMs - retentionMs) return
  throw outOfRange('The key belongs to a record of a time whose records have been dropped.', nowMs)
}

function outOfRange(detail: string, nowMs: number): IntakeError {
  const members = { server_time: new Date(nowMs).toISOString() }
  return new IntakeError('id_time_out_of_range', detail, { members })
}
