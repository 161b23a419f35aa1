import { IntakeError } from '@intake/contract'
import type { LogBatchEnvelope, LogEntry } from '@intake/contract/schemas'
import {
  clientIdKey,
  createIdentity,
  deriveIdentity,
  parseIdentity,
  type Identity,
} from '@intake/identity'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs, requireKept } from '../identity/event-time.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { RequestContext } from '../record/request-context.ts'
import { rejection, type Entry, type OrRejection } from './batch-entries.ts'
import { mapInTurns, type SenderTurns } from '../admission/fairness/in-turns.ts'

interface IdentifyOptions {
  store: IdempotencyStore
  batch: LogBatchEnvelope
  entries: OrRejection<Pick<Entry, 'log'>>[]
  /** The `Idempotency-Key` of the request. */
  key: string | undefined
  context: RequestContext
  /** The retention of records, in milliseconds; undefined if they are kept without limit. */
  retentionMs: number | undefined
  turns: SenderTurns
  deadline: number
}

/** An entry with the id and content of an earlier entry; `of` is the index of the earlier entry. */
export interface Repeat {
  of: number
}

/**
 * Assigns each entry its identity. The identity comes from the entry's own id, else from the key of
 * the whole batch. Without either, it is a new identity.
 *
 * @throws {IntakeError} the errors of `IdempotencyStore.reserve` for the key of the batch, which
 * refuse the whole request
 */
export async function assignIdentities(
  options: IdentifyOptions,
): Promise<OrRejection<Identity | Repeat>[]> {
  const { store, batch, entries, context, retentionMs, turns, deadline } = options
  const { receivedAtMs: nowMs, apiKeyId } = context
  const fingerprintAt = fingerprintsOf(batch)
  const whole = await reserveBatch(options, fingerprintAt)
  const repeatOf = createRepeatFinder(fingerprintAt)

  // Returns a promise only for an entry whose own id must be reserved. Most entries need no
  // reservation.
  const identify = (log: LogEntry, index: number): Identity | Repeat | Promise<Identity> => {
    const clientId = clientIdKey(log.id)
    if (clientId === undefined) {
      if (whole === undefined) return createIdentity(eventTimeMs(log.timestamp, nowMs, retentionMs))
      // Passes the time of the first attempt instead of `nowMs`, so that every attempt computes the
      // same event time, unless the retention has changed.
      const timeMs = eventTimeMs(log.timestamp, Date.parse(whole.time), retentionMs)
      const derived = deriveIdentity(whole, index, timeMs)
      requireKept(derived.id, nowMs, retentionMs)
      return derived
    }
    const repeat = repeatOf(clientId, log, index)
    if (repeat !== undefined) return repeat
    return assignIdentity({
      store,
      scope: 'logs',
      apiKeyId,
      sender: batch,
      clientId,
      key: undefined,
      nowMs,
      deadline,
      timeMs: () => eventTimeMs(log.timestamp, nowMs, retentionMs),
      retentionMs,
      fingerprint: () => fingerprintAt(log, index),
    })
  }
  return mapInTurns(entries, turns, (entry, index) => {
    if (entry instanceof IntakeError) return entry
    try {
      const identity = identify(entry.log, index)
      return identity instanceof Promise ? identity.catch(rejection) : identity
    } catch (error) {
      return rejection(error)
    }
  })
}

/** Returns the hash of the content of the entry with this index. */
type FingerprintAt = (log: LogEntry, index: number) => string

/**
 * Creates a function that computes each fingerprint only once, on first use, because computing one
 * takes as long as printing the entry.
 */
function fingerprintsOf(batch: LogBatchEnvelope): FingerprintAt {
  const known: string[] = []
  return (log, index) => (known[index] ??= fingerprintOf(logContent(batch, log)))
}

/**
 * Reserves the key of the whole batch. Returns the identity from which the identities of its
 * entries are derived; undefined without a key.
 */
async function reserveBatch(
  { store, batch, entries, key, context, turns, deadline }: IdentifyOptions,
  fingerprintAt: FingerprintAt,
): Promise<Identity | undefined> {
  if (key === undefined) return undefined
  const contents = await mapInTurns(entries, turns, (entry, index) =>
    entry instanceof IntakeError
      ? null
      : [fingerprintAt(entry.log, index), identityPart(entry.log)],
  )
  const id = await store.reserve(
    {
      scope: 'batches',
      apiKeyId: context.apiKeyId,
      bundleIdentifier: batch.bundle_identifier,
      deviceUuid: batch.device_uuid,
      key,
      fingerprint: fingerprintOf(contents),
      id: createIdentity(context.receivedAtMs).id,
    },
    deadline,
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
 * @returns a function to call for each entry with an id, in order; it throws `duplicate_id` for a
 * different event
 */
function createRepeatFinder(
  fingerprintAt: FingerprintAt,
): (id: string, log: LogEntry, index: number) => Repeat | undefined {
  const first = new Map<string, { log: LogEntry; index: number }>()
  return (id, log, index) => {
    const earlier = first.get(id)
    if (earlier === undefined) {
      first.set(id, { log, index })
      return undefined
    }
    if (fingerprintAt(earlier.log, earlier.index) === fingerprintAt(log, index)) {
      return { of: earlier.index }
    }
    throw new IntakeError('duplicate_id', 'An earlier entry has this id and other content.')
  }
}
