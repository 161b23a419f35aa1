import { IntakeError, type Sender } from '@intake/contract'
import { requireIdInWindow } from './event-time.ts'
import type { IdempotencyStore, KeyScope } from './idempotency-store.ts'
import { createIdentity, isUuidV7, parseIdentity, type Identity } from './identity.ts'

/**
 * The identity of a record. A UUIDv7 that the client gave a log event is the identity itself: a repeat
 * makes the same one, and nothing is remembered. Any other key is reserved together with the identity of
 * its first attempt. Without either it is a new one.
 *
 * @param options.clientId of `clientIdKey`
 * @param options.key the `Idempotency-Key` of the request; it is reserved also beside a client's id
 * @param options.nowMs when the record arrived; `timeMs`: when its event happened, as far as that can be
 * believed; both in milliseconds since 1970
 * @param options.fingerprint of what is stored of the record, but not of the device: its battery goes down
 * between two attempts
 * @throws {IntakeError} `id_time_out_of_range`; `idempotency_key_reused` also when the key stands for
 * another record than the client's id; and as `IdempotencyStore.reserve`
 */
export function assignIdentity(options: {
  store: IdempotencyStore
  scope: KeyScope
  apiKeyId: string
  sender: Sender
  clientId: string | undefined
  key: string | undefined
  nowMs: number
  timeMs: number
  fingerprint: () => string
  deadline: number
}): Identity | Promise<Identity> {
  const { store, scope, apiKeyId, sender, clientId, key, nowMs, timeMs, deadline } = options
  const isOwn = scope === 'logs' && clientId !== undefined && isUuidV7(clientId)
  if (isOwn) requireIdInWindow(clientId, nowMs)
  const identity = isOwn ? parseIdentity(clientId) : createIdentity(timeMs)
  const keys = [isOwn ? undefined : clientId, key].filter((one) => one !== undefined)
  if (keys.length === 0) return identity

  const { bundle_identifier: bundleIdentifier, device_uuid: deviceUuid } = sender
  const about = {
    scope,
    apiKeyId,
    bundleIdentifier,
    deviceUuid,
    fingerprint: options.fingerprint(),
  }
  return reserveAll(keys, identity.id)

  async function reserveAll(names: string[], id: string): Promise<Identity> {
    let common = isOwn ? id : undefined
    for (const name of names) {
      const found = await store.reserve({ ...about, key: name, id: common ?? id }, deadline)
      if (common !== undefined && found !== common) throw otherRecord()
      common = found
    }
    return parseIdentity(common ?? id)
  }
}

/** Nothing of the record is stored then, so it must not get the id of the other one as a success. */
function otherRecord(): IntakeError {
  return new IntakeError(
    'idempotency_key_reused',
    'The Idempotency-Key was sent before with another id, or without one.',
  )
}
