import { isDeepStrictEqual } from 'node:util'
import type { Cluster } from './cluster.ts'
import { checkLeftOut } from './check-left-out.ts'
import { checkOutcomes } from './check-outcomes.ts'
import { checkWatermark } from './check-watermark.ts'
import { checkWebhook } from './check-webhook.ts'
import type { Event } from './history.ts'
import { backlogOf, redeliveriesOf } from './observe.ts'
import type { Payload } from './payload.ts'
import { until } from '@intake/test-kit/until'
import { createViolations, type Violations } from './violations.ts'
import { checkAttachments, visibleRows, type Row } from './visible-rows.ts'

export interface Counts {
  issued: number
  acknowledged: number
  refused: number
  unknown: number
  visible: number
  redeliveries: number
  duplicateRows: number
  partialInserts: number
}

export interface CheckResult {
  counts: Counts
  /** Violations of the guarantees; empty if there are none. */
  violations: string[]
}

export interface CheckOptions {
  cluster: Cluster
  events: readonly Event[]
  payload: (seq: number) => Payload
  /** Limits of the response time; undefined if the scenario freezes the gateway itself. */
  deadlinesMs?: { logs: number; feedback: number } | undefined
  /** How long the backlog may go without shrinking. The whole time to drain has no limit. */
  drainStallMs?: number | undefined
  /** How many frames are meant to stay in the queue. */
  keptFrames?: number
  /** If set, a record that is visible but was never acknowledged is a violation, too. */
  everyStoredIsAnswered?: boolean
  /**
   * Set if the scenario rewrites or deletes stored rows. The rows are then not compared with the
   * outcomes and watermarks.
   */
  rewritesRows?: boolean
  /** Whether rules may leave out this record; undefined if there are no rules. */
  mayBeLeftOut?: ((record: Payload) => boolean) | undefined
  /** SQL condition for the rows to check, if there are other senders; default: all rows. */
  where?: string | undefined
}

/** The longest response times that are accepted: the documented ones plus 1.5 s for a slow disk. */
export const answerDeadlinesMs = { logs: 6_000, feedback: 20_500 }
const drainedLooks = 3

/**
 * Waits until the queues have drained. Then compares three things: the responses with what analysts
 * see, the counts of outcomes with the stored records, and each watermark with the times at which
 * rows were stored. The gateways end during this check.
 */
export async function check(options: CheckOptions): Promise<CheckResult> {
  const { cluster, payload, keptFrames = 0 } = options
  const violations = createViolations()
  await drained(cluster, { stallMs: options.drainStallMs, kept: keptFrames }).catch(
    (error: Error) => violations.add('not drained', error.message),
  )
  const visible = await visibleRows(cluster, options.where)
  const records = outcomes(options.events)
  const counts = await countAll(cluster, options.events, records, visible.length)

  const seen = new Map<number, Row[]>()
  const ids = new Set<string>()
  for (const row of visible) {
    if (ids.has(row.id)) violations.add('id visible twice', row.id)
    ids.add(row.id)
    const { seq } = row.shown
    seen.set(seq, [...(seen.get(seq) ?? []), row])
  }
  let leftOut = 0
  for (const [seq, record] of records) {
    const rows = seen.get(seq) ?? []
    for (const id of record.acknowledged) {
      if (ids.has(id)) continue
      if (options.mayBeLeftOut?.(payload(seq))) leftOut++
      else violations.add('acknowledged but not visible', `seq ${seq} id ${id}`)
    }
    if (record.acknowledged.size > 1) violations.add('one key, two ids', `seq ${seq}`)
    if (rows.length > 1) violations.add('visible twice', `seq ${seq}`)
    const mayBeThere = record.acknowledged.size > 0 || record.unknown
    if (rows.length > 0 && !mayBeThere) violations.add('refused but visible', `seq ${seq}`)
    if (options.everyStoredIsAnswered && rows.length > 0 && record.acknowledged.size === 0) {
      violations.add('stored but never acknowledged', `seq ${seq}`)
    }
  }
  for (const [seq, rows] of seen) {
    if (!records.has(seq)) violations.add('visible but never issued', `seq ${seq}`)
    const { expected } = payload(seq)
    for (const { shown } of rows) {
      if (!isDeepStrictEqual(shown, expected)) violations.add('payload differs', `seq ${seq}`)
    }
  }
  await checkAttachments(cluster, visible, violations)
  await checkWebhook(cluster, violations)
  if (!options.rewritesRows) {
    await checkOutcomes(cluster, violations)
    const acknowledged = new Set([...records.values()].flatMap((one) => [...one.acknowledged]))
    if (options.mayBeLeftOut !== undefined) {
      await checkLeftOut(cluster, { counts, leftOut, violations })
    }
    await checkWatermark(cluster, { acknowledged, violations })
  }
  checkResponses(options, violations)
  const { failed } = await backlogOf(cluster.keys)
  if (failed > 0) violations.add('failed jobs', String(failed))
  return { counts, violations: violations.list() }
}

/**
 * Resolves when several readings in a row find `kept` frames in the queues, by default none.
 *
 * @param options.shards the number of shards of the log queue
 */
export async function drained(
  { keys }: Pick<Cluster, 'keys'>,
  {
    stallMs = 120_000,
    kept = 0,
    shards = 1,
  }: { stallMs?: number | undefined; kept?: number; shards?: number } = {},
): Promise<void> {
  let quiet = 0
  let fewest = Infinity
  await until(
    'the queues are empty',
    async () => {
      const { waiting, active, delayed } = await backlogOf(keys, shards)
      const frames = waiting + active + delayed
      fewest = Math.min(fewest, frames)
      quiet = frames === kept ? quiet + 1 : 0
      return quiet >= drainedLooks
    },
    { progress: () => fewest, stallMs, everyMs: 150 },
  )
}

interface RecordOutcome {
  acknowledged: Set<string>
  unknown: boolean
}

/** Combines the outcomes of all attempts to send a record, for each record. */
function outcomes(events: readonly Event[]): Map<number, RecordOutcome> {
  const records = new Map<number, RecordOutcome>()
  const open = new Map<number, number>()
  for (const event of events) {
    const { seq } = event
    const record = records.get(seq) ?? { acknowledged: new Set<string>(), unknown: false }
    records.set(seq, record)
    open.set(seq, (open.get(seq) ?? 0) + (event.is === 'issued' ? 1 : -1))
    if (event.is === 'acknowledged') record.acknowledged.add(event.id)
    if (event.is === 'unknown') record.unknown = true
  }
  for (const [seq, left] of open) if (left > 0) records.get(seq)!.unknown = true
  return records
}

async function countAll(
  { sql, keys }: Cluster,
  events: readonly Event[],
  records: Map<number, RecordOutcome>,
  visible: number,
): Promise<Counts> {
  const number = (is: Event['is']) => events.filter((event) => event.is === is).length
  const [raw] = await sql.query<{ duplicates: number }>(
    `SELECT (SELECT count() - uniqExact(id) FROM intake.logs_raw)
          + (SELECT count() - uniqExact(id) FROM intake.feedback_raw) AS duplicates`,
  )
  return {
    issued: records.size,
    acknowledged: number('acknowledged'),
    refused: number('refused'),
    unknown: number('unknown'),
    visible,
    redeliveries: await redeliveriesOf(keys),
    duplicateRows: raw?.duplicates ?? 0,
    partialInserts: 0,
  }
}

function checkResponses({ events, deadlinesMs }: CheckOptions, violations: Violations): void {
  const kindOf = new Map<number, 'logs' | 'feedback'>()
  for (const event of events) {
    if (event.is === 'issued') {
      kindOf.set(event.seq, event.kind)
      continue
    }
    const limit = deadlinesMs?.[kindOf.get(event.seq) ?? 'logs'] ?? Infinity
    if (event.ms > limit) violations.add('late response', `seq ${event.seq}: ${event.ms} ms`)
    if (event.is !== 'refused') continue
    const allowed = event.status === 0 || event.status === 503 || event.status === 429
    if (!allowed) violations.add(`response ${event.status}`, `seq ${event.seq} ${event.code}`)
  }
}
