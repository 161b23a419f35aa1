import { IntakeError } from '@intake/contract'
import type { LogEntry, Sender } from '@intake/contract/schemas'
import {
  clientIdKey,
  createIdentity,
  deriveIdentity,
  parseIdentity,
  type Identity,
  type IdempotencyStore,
} from '@intake/identity'
import { mapInTurns, type SenderTurns } from '@intake/http-edge'
import { assignIdentity, eventTimeMs, requireKept } from '../identity/assign-identity.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { Admitted, Terms } from './acceptance.ts'
import { rejection, type Entry } from './batch-entries.ts'
import type { LogRecord } from './log-record.ts'

interface Options {
  store: IdempotencyStore
  admitted: Pick<Admitted, 'sender' | 'context' | 'key'>
  terms: Terms
  turns: SenderTurns
}

/**
 * Assigns each log event its identity, or the error for which it is rejected. The identity comes
 * from the entry's own id, else from the key of the whole batch. Without either, it is a new
 * identity. A repeat of an earlier entry has no identity of its own: it is stored and rejected with
 * that entry.
 *
 * @throws {IntakeError} the errors of `IdempotencyStore.reserve` for the key of the batch, which
 * refuse the whole request
 */
export async function assignIdentities(entries: readonly Entry[], options: Options): Promise<void> {
  const { store, admitted, terms, turns } = options
  const { sender, context, key } = admitted
  const { apiKeyId, receivedAtMs: nowMs } = context
  const { retentionMs, deadline } = terms
  const fingerprint = createFingerprints(sender)
  const whole =
    key === undefined ? undefined : await reserveBatch(entries, { ...options, key, fingerprint })
  const findFirst = createRepeatFinder(fingerprint)
  await mapInTurns(entries, turns, identify)
  for (const entry of entries) if ('log' in entry) entry.error ??= entry.first?.error

  /** Returns a promise only for an entry whose own id must be reserved; most need none. */
  function identify(entry: Entry, index: number): Promise<void> | undefined {
    if (!('log' in entry)) return undefined
    try {
      const { id, timestamp } = entry.log
      const clientId = id == null ? undefined : clientIdKey(id)
      if (clientId !== undefined) {
        entry.first = findFirst(clientId, entry)
        if (entry.first !== undefined) return undefined
        const identity = identityOfOwnId(clientId, entry)
        if (identity instanceof Promise) {
          return identity.then(
            (one) => void (entry.identity = one),
            (error: unknown) => void (entry.error = rejection(error)),
          )
        }
        entry.identity = identity
      } else if (whole !== undefined) {
        entry.identity = identityInBatch(whole, entry.log, index)
      } else {
        const timeMs = timestamp == null ? nowMs : eventTimeMs(timestamp, nowMs, retentionMs)
        entry.identity = createIdentity(timeMs)
      }
    } catch (error) {
      entry.error = rejection(error)
    }
    return undefined
  }

  function identityOfOwnId(clientId: string, record: LogRecord): Identity | Promise<Identity> {
    return assignIdentity({
      store,
      scope: 'logs',
      apiKeyId,
      sender,
      clientId,
      key: undefined,
      nowMs,
      deadline,
      timeMs: () => eventTimeMs(record.log.timestamp, nowMs, retentionMs),
      retentionMs,
      fingerprint: () => fingerprint(record),
    })
  }

  function identityInBatch(batch: Identity, { timestamp }: LogEntry, index: number): Identity {
    // Passes the time of the first attempt instead of the current time, so that every attempt
    // computes the same event time, unless the retention has changed.
    const timeMs = eventTimeMs(timestamp, Date.parse(batch.time), retentionMs)
    const derived = deriveIdentity(batch, index, timeMs)
    requireKept(derived.id, nowMs, retentionMs)
    return derived
  }
}

/** Reserves the key of a batch for the identity from which those of its entries are derived. */
async function reserveBatch(
  entries: readonly Entry[],
  options: Options & { key: string; fingerprint: Fingerprint },
): Promise<Identity> {
  const { store, admitted, terms, turns, key, fingerprint } = options
  const { sender, context } = admitted
  const contents = await mapInTurns(entries, turns, (entry) =>
    'log' in entry ? [fingerprint(entry), identityPart(entry.log)] : null,
  )
  const id = await store.reserve(
    {
      scope: 'batches',
      apiKeyId: context.apiKeyId,
      bundleIdentifier: sender.bundle_identifier,
      deviceUuid: sender.device_uuid,
      key,
      fingerprint: fingerprintOf(contents),
      id: createIdentity(context.receivedAtMs).id,
    },
    terms.deadline,
  )
  return parseIdentity(id)
}

type Fingerprint = (record: LogRecord) => string

/** Computes each fingerprint once: computing one takes as long as printing the entry. */
function createFingerprints(sender: Sender): Fingerprint {
  const known = new Map<LogRecord, string>()
  return (record) => {
    let fingerprint = known.get(record)
    if (fingerprint === undefined) {
      fingerprint = fingerprintOf(logContent(sender, record.log))
      known.set(record, fingerprint)
    }
    return fingerprint
  }
}

/**
 * Returns the part of an entry that determines its identity under a batch key. Retries with the
 * same key must not change it.
 */
function identityPart({ id, timestamp }: LogEntry): string | number | null {
  return clientIdKey(id) ?? (timestamp == null ? null : Date.parse(timestamp))
}

/**
 * Returns a function that finds the earlier entry with the same id. Call it for each entry, in
 * order. It throws `duplicate_id` if the earlier entry is another event.
 */
function createRepeatFinder(
  fingerprint: Fingerprint,
): (id: string, record: LogRecord) => LogRecord | undefined {
  const known = new Map<string, LogRecord>()
  return (id, record) => {
    const first = known.get(id)
    if (first === undefined) known.set(id, record)
    else if (fingerprint(first) !== fingerprint(record)) {
      throw new IntakeError('duplicate_id', 'An earlier entry has this id and other content.')
    }
    return first
  }
}
