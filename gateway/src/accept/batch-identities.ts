import { IntakeError, type LogBatchEnvelope, type LogEntry } from '@intake/contract'
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
  /** How long records are kept; undefined: without limit. */
  retentionMs: number | undefined
  turns: SenderTurns
  deadline: number
}

/** The index of the earlier entry in the batch with the same id and content. */
export interface Repeat {
  of: number
}

/**
 * Assigns each entry its identity: from the entry's own id, else from the key of the whole batch,
 * else a new one.
 *
 * @throws {IntakeError} for the whole request, as `IdempotencyStore.reserve`
 */
export async function assignIdentities(
  options: IdentifyOptions,
): Promise<OrRejection<Identity | Repeat>[]> {
  const { store, batch, context, retentionMs, turns, deadline } = options
  const { receivedAtMs: nowMs, apiKeyId } = context
  const entries = options.entries.map((entry) => fingerprintOnce(batch, entry))
  const whole = await reserveBatch(options, entries)
  const repeats = await findRepeats(entries, turns)

  // Returns a promise only for an entry whose key is reserved; most entries need none.
  const identify = (
    entry: OrRejection<Fingerprinted>,
    index: number,
  ): OrRejection<Identity | Repeat> | Promise<Identity> => {
    if (entry instanceof IntakeError) return entry
    const { log, fingerprint } = entry
    const repeat = repeats[index]
    if (repeat !== undefined) return repeat
    const clientId = clientIdKey(log.id)
    if (whole !== undefined && clientId === undefined) {
      // Computed relative to the time of the first attempt, so every attempt gets the same time as
      // long as the retention does not change.
      const timeMs = eventTimeMs(log.timestamp, Date.parse(whole.time), retentionMs)
      const derived = deriveIdentity(whole, index, timeMs)
      requireKept(derived.id, nowMs, retentionMs)
      return derived
    }
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
      fingerprint,
    })
  }
  return mapInTurns(entries, turns, (entry, index) => {
    try {
      const identity = identify(entry, index)
      return identity instanceof Promise ? identity.catch(rejection) : identity
    } catch (error) {
      return rejection(error)
    }
  })
}

type Fingerprinted = Pick<Entry, 'log'> & {
  /** Hash of the content. Computed on first use, because it takes as long as printing the entry. */
  fingerprint: () => string
}

function fingerprintOnce(
  batch: LogBatchEnvelope,
  entry: OrRejection<Pick<Entry, 'log'>>,
): OrRejection<Fingerprinted> {
  if (entry instanceof IntakeError) return entry
  const { log } = entry
  let known: string | undefined
  return { log, fingerprint: () => (known ??= fingerprintOf(logContent(batch, log))) }
}

/** Reserves the key of the whole batch and returns its identity; undefined without a key. */
async function reserveBatch(
  { store, batch, key, context, turns, deadline }: IdentifyOptions,
  entries: OrRejection<Fingerprinted>[],
): Promise<Identity | undefined> {
  if (key === undefined) return undefined
  const contents = await mapInTurns(entries, turns, (entry) =>
    entry instanceof IntakeError ? null : [entry.fingerprint(), identityPart(entry.log)],
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
 * The part of an entry that determines its identity under a batch key. Retries under one key must
 * not change it. A number is a time in milliseconds since 1970.
 */
function identityPart({ id, timestamp }: LogEntry): string | number | null {
  return clientIdKey(id) ?? (timestamp == null ? null : Date.parse(timestamp))
}

/**
 * Finds entries that have the id of an earlier entry. Such an entry is either a repeat of the same
 * event, or another event, which is rejected.
 */
function findRepeats(
  entries: OrRejection<Fingerprinted>[],
  turns: SenderTurns,
): Promise<(OrRejection<Repeat> | undefined)[]> {
  const first = new Map<string, { index: number; fingerprint: () => string }>()
  return mapInTurns(entries, turns, (entry, index) => {
    const id = entry instanceof IntakeError ? undefined : clientIdKey(entry.log.id)
    if (entry instanceof IntakeError || id === undefined) return undefined
    const { fingerprint } = entry
    const earlier = first.get(id)
    if (earlier === undefined) {
      first.set(id, { index, fingerprint })
      return undefined
    }
    if (earlier.fingerprint() === fingerprint()) return { of: earlier.index }
    return new IntakeError('duplicate_id', 'An earlier entry has this id and other content.')
  })
}
