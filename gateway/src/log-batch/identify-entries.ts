import { IntakeError, type LogBatchEnvelope, type LogEntry } from '@intake/contract'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import { clientIdKey, fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import {
  createIdentity,
  deriveIdentity,
  parseIdentity,
  type Identity,
} from '../identity/identity.ts'
import type { RequestContext } from '../row.ts'
import { rejection, type Outcome } from './entries.ts'
import { mapInTurns } from './in-turns.ts'

interface IdentifyOptions {
  store: IdempotencyStore
  batch: LogBatchEnvelope
  entries: Outcome<LogEntry>[]
  /** The `Idempotency-Key` of the request. */
  key: string | undefined
  context: RequestContext
  deadline: number
}

/** An entry's place in the batch whose id it repeats, with the same content. */
export interface Repeat {
  of: number
}

/**
 * The identity of each entry: of its own id, else of the key of the whole batch, else a new one.
 *
 * @throws {IntakeError} what concerns the whole request, as `IdempotencyStore.reserve`
 */
export async function identifyEntries(
  options: IdentifyOptions,
): Promise<Outcome<Identity | Repeat>[]> {
  const { store, batch, entries, context, deadline } = options
  const { receivedAtMs: nowMs, apiKeyId } = context
  const whole = await reserveBatch(options)
  const repeats = findRepeats(batch, entries)

  const identify = async (
    entry: Outcome<LogEntry>,
    index: number,
  ): Promise<Outcome<Identity | Repeat>> => {
    if (entry instanceof IntakeError) return entry
    const repeat = repeats.get(index)
    if (repeat !== undefined) return repeat
    const clientId = clientIdKey(entry.id)
    if (whole !== undefined && clientId === undefined) {
      // By the time of the first attempt, so that every attempt finds the same.
      const timeMs = eventTimeMs(entry.timestamp, Date.parse(whole.time))
      return deriveIdentity(whole, index, timeMs)
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
      timeMs: eventTimeMs(entry.timestamp, nowMs),
      content: () => logContent(batch, entry),
    })
  }
  return mapInTurns(entries, (entry, index) => identify(entry, index).catch(rejection))
}

/** The identity that the key of a whole batch is reserved for, if it has a key. */
async function reserveBatch(options: IdentifyOptions): Promise<Identity | undefined> {
  const { store, batch, entries, key, context, deadline } = options
  if (key === undefined) return undefined
  const contents = await mapInTurns(entries, (entry) =>
    entry instanceof IntakeError ? '' : fingerprintOf([...logContent(batch, entry), timeOf(entry)]),
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

/** The time is part of an identity that comes from the key of the batch, so it must not change. */
function timeOf({ id, timestamp }: LogEntry): number | null {
  return id == null && timestamp != null ? Date.parse(timestamp) : null
}

/** Entries with the id of an earlier one: the same event once more, or another one, which is rejected. */
function findRepeats(
  batch: LogBatchEnvelope,
  entries: Outcome<LogEntry>[],
): Map<number, Outcome<Repeat>> {
  const first = new Map<string, { index: number; entry: LogEntry }>()
  const repeats = new Map<number, Outcome<Repeat>>()
  for (const [index, entry] of entries.entries()) {
    const id = entry instanceof IntakeError ? undefined : clientIdKey(entry.id)
    if (entry instanceof IntakeError || id === undefined) continue
    const earlier = first.get(id)
    if (earlier === undefined) first.set(id, { index, entry })
    else repeats.set(index, repeatOf(earlier, entry))
  }
  return repeats

  function repeatOf(earlier: { index: number; entry: LogEntry }, entry: LogEntry): Outcome<Repeat> {
    const [one, other] = [earlier.entry, entry].map((each) =>
      fingerprintOf(logContent(batch, each)),
    )
    if (one === other) return { of: earlier.index }
    return new IntakeError('duplicate_id', 'An earlier entry has this id and other content.')
  }
}
