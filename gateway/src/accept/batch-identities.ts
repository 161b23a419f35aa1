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

interface IdentifyOptions {
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
export async function assignIdentities(
  entries: readonly Entry[],
  options: IdentifyOptions,
): Promise<void> {
  const { admitted, terms, turns } = options
  const { receivedAtMs: nowMs } = admitted.context
  const { retentionMs } = terms
  const fingerprint = createFingerprints(admitted.sender)
  const whole = await reserveBatch(entries, options, fingerprint)
  const findFirst = createRepeatFinder(fingerprint)

  /**
   * Returns a promise only for an entry whose own id must be reserved. Most entries need no
   * reservation.
   */
  function identify(entry: Entry, index: number): Promise<void> | undefined {
    if (!('log' in entry)) return undefined
    try {
      const { id, timestamp } = entry.log
      const clientId = id == null ? undefined : clientIdKey(id)
      if (clientId !== undefined) {
        entry.first = findFirst(clientId, entry)
        if (entry.first !== undefined) return undefined
        const identity = identityOfOwnId(clientId, { record: entry, fingerprint, options })
        if (identity instanceof Promise) {
          return identity.then(
            (one) => void (entry.identity = one),
            (error: unknown) => void (entry.error = rejection(error)),
          )
        }
        entry.identity = identity
      } else if (whole !== undefined) {
        entry.identity = identityInBatch(whole, { entry: entry.log, index, options })
      } else {
        const timeMs = timestamp == null ? nowMs : eventTimeMs(timestamp, nowMs, retentionMs)
        entry.identity = createIdentity(timeMs)
      }
    } catch (error) {
      entry.error = rejection(error)
    }
    return undefined
  }

  await mapInTurns(entries, turns, identify)
  for (const entry of entries) if ('log' in entry) entry.error ??= entry.first?.error
}

function identityOfOwnId(
  clientId: string,
  {
    record,
    fingerprint,
    options: { store, admitted, terms },
  }: { record: LogRecord; fingerprint: Fingerprint; options: IdentifyOptions },
): Identity | Promise<Identity> {
  const { sender, context } = admitted
  const { receivedAtMs: nowMs, apiKeyId } = context
  const { retentionMs, deadline } = terms
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

/** Returns the identity of an entry that is derived from the identity of its whole batch. */
function identityInBatch(
  whole: Identity,
  { entry, index, options }: { entry: LogEntry; index: number; options: IdentifyOptions },
): Identity {
  const { retentionMs } = options.terms
  // Passes the time of the first attempt instead of the current time, so that every attempt
  // computes the same event time, unless the retention has changed.
  const timeMs = eventTimeMs(entry.timestamp, Date.parse(whole.time), retentionMs)
  const derived = deriveIdentity(whole, index, timeMs)
  requireKept(derived.id, options.admitted.context.receivedAtMs, retentionMs)
  return derived
}

/** Returns the hash of the content of a log event. */
type Fingerprint = (record: LogRecord) => string

/**
 * Creates a function that computes each fingerprint only once, on first use, because computing one
 * takes as long as printing the entry.
 */
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
 * Reserves the key of the whole batch. Returns the identity from which the identities of its
 * entries are derived; undefined without a key.
 */
async function reserveBatch(
  entries: readonly Entry[],
  { store, admitted, turns, terms }: IdentifyOptions,
  fingerprint: Fingerprint,
): Promise<Identity | undefined> {
  const { sender, context, key } = admitted
  if (key === undefined) return undefined
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

/**
 * Returns the part of an entry that determines its identity under a batch key: the client's id,
 * else the timestamp in milliseconds since 1970, else null. Retries with the same key must not
 * change this part.
 */
function identityPart({ id, timestamp }: LogEntry): string | number | null {
  return clientIdKey(id) ?? (timestamp == null ? null : Date.parse(timestamp))
}

/**
 * Finds entries that have the id of an earlier entry. Such an entry is either a repeat of the same
 * event, or a different event, which is rejected.
 *
 * @returns a function to call for each entry with an id, in order; it returns the earlier entry, and
 * throws `duplicate_id` for a different event
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
