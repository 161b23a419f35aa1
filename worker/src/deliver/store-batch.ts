import { helpOf } from '@intake/health/problem-catalogue'
import { hasUnknownCode, type ClickHouseError } from '@intake/clickhouse'
import type { Frame, QueueName } from '@intake/queue'
import type { ClaimedFrame } from '@intake/queue/consume'
import type { Clock } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import type { Tracing } from '@intake/tracing'
import type { DeliveryEvents, RowStore } from './ports.ts'
import type { RefusalRun } from './refusal-run.ts'
import { repeatInsert, type ConsecutiveFailures } from './repeat-insert.ts'
import { rowsOf, splitRows } from './split-frame.ts'
import { traceInsert } from './trace-insert.ts'
import { writeDeadLetter } from './write-dead-letter.ts'

/** A batch is halved after this many rejections; each half after one. */
const batchRefusalsMax = 2
/** An insert is halved after this many failures, or after one that says it is too large. */
const splitFailuresMax = 2
/**
 * A row that fails alone with an unrecognised code becomes a dead letter after this many attempts
 * of its frame, those ended by the death of a worker included.
 */
const unknownCodeAttempts = 8

export interface StoreOptions {
  store: RowStore
  /** Called with rows that were stored. If it rejects, the frames of these rows are postponed. */
  announce?: (rows: readonly string[]) => Promise<void>
  kind: QueueName
  events: DeliveryEvents
  log: Logger
  /** Creates spans; undefined if tracing is off. */
  tracing?: Tracing | undefined
  refusalRun: RefusalRun
  /** Stops the retries; the frames then return to the queue. */
  signal: AbortSignal
  clock: Clock
}

/** Rows that are inserted together, and the frame that they come from. */
interface Part extends Frame {
  origin: ClaimedFrame
}

/**
 * Stores the rows of the frames. Resolves to the frames with rows that cannot be stored or
 * announced now. While ClickHouse is unavailable or needs an operator, the insert is repeated
 * without limit.
 *
 * If ClickHouse rejects rows, or the insert may be too large, it is halved, down to single rows. A
 * rejected row is dead-lettered; after a long run of rejections (`RefusalRun`), and if a row fails
 * in another way, its frame is postponed. Other frames are not delayed.
 *
 * Rejects only after `signal` has aborted; the rows may then be stored or not.
 */
export async function storeBatch(
  frames: readonly ClaimedFrame[],
  options: StoreOptions,
): Promise<ReadonlySet<ClaimedFrame>> {
  const postponed = new Set<ClaimedFrame>()
  const parts = frames.map((frame) => ({ ...frame, origin: frame }))
  // A body has one coding. A batch has frames of two while gateways run on different versions of Node.
  for (const coding of new Set(parts.map((part) => part.coding))) {
    const same = parts.filter((part) => part.coding === coding)
    await insertOrSplit(same, { ...options, refusalsMax: batchRefusalsMax, postponed })
  }
  for (const frame of frames) {
    if (!postponed.has(frame)) options.events.visible(options.kind, frame)
  }
  return postponed
}

/** @param parts have the same coding */
async function insertOrSplit(
  parts: readonly Part[],
  context: StoreOptions & { refusalsMax: number; postponed: Set<ClaimedFrame> },
): Promise<void> {
  const { kind, store, events, signal, tracing, refusalRun, refusalsMax, postponed } = context
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const members = parts.map(({ bytes }) => bytes)
  const coding = parts[0]?.coding
  const shouldGiveUp = (failure: ClickHouseError, failures: ConsecutiveFailures) =>
    failures.refusals >= refusalsMax ||
    failures.splitFailures >= (rows === 1 || failure.isTooLarge ? 1 : splitFailuresMax)
  const insert = () => store.insertRows({ table: kind, coding, members, rows, signal })
  const failure = await repeatInsert(
    { ...context, rows, shouldGiveUp },
    tracing ? () => traceInsert({ tracing, kind, rows, parts }, insert) : insert,
  )
  if (failure === undefined) {
    refusalRun.end()
    events.inserted(kind, rows)
    const isAnnounced = await announceStored(parts, context)
    if (!isAnnounced) for (const { origin } of parts) postponed.add(origin)
    return
  }

  const halves = split(parts, context)
  if (halves === undefined) {
    const [only] = parts as [Part]
    if (!(await settle(only, failure, context))) postponed.add(only.origin)
    return
  }
  for (const half of halves) await insertOrSplit(half, { ...context, refusalsMax: 1 })
}

async function announceStored(
  parts: readonly Part[],
  { announce, kind, log }: StoreOptions,
): Promise<boolean> {
  try {
    await announce?.(parts.flatMap((part) => rowsOf(part)))
    return true
  } catch (err) {
    const help = 'docs/operations/webhook-fails.md'
    log.error({ err, kind, help }, 'stored feedback was not announced; it will be announced later')
    return false
  }
}

/**
 * Returns undefined for a single row, and for a single frame while every row is rejected, because
 * splitting is then useless.
 */
function split(
  parts: readonly Part[],
  { refusalRun }: StoreOptions,
): (readonly Part[])[] | undefined {
  let smaller = parts
  const [only] = parts
  if (parts.length === 1 && only !== undefined) {
    if (refusalRun.isLong()) return undefined
    const rows = rowsOf(only)
    if (rows.length <= 1) return undefined
    smaller = splitRows(rows).map((part) => ({ ...part, origin: only.origin }))
  }
  const middle = Math.ceil(smaller.length / 2)
  return [smaller.slice(0, middle), smaller.slice(middle)]
}

/** Returns whether the part, a single row, is now a dead letter; otherwise it must be retried. */
async function settle(
  part: Part,
  failure: ClickHouseError,
  options: StoreOptions,
): Promise<boolean> {
  const { kind, log, refusalRun } = options
  const rows = rowsOf(part)
  const isRefused = failure.kind === 'rejected'
  const isAtFault =
    isRefused || (hasUnknownCode(failure) && part.origin.attempts >= unknownCodeAttempts)
  // Rejected outcome counts remain in the queue until they can be stored.
  if (isAtFault && rows.length <= 1 && !refusalRun.isLong() && kind !== 'outcomes') {
    refusalRun.add()
    const [row = part.bytes.toString('base64')] = rows
    return writeDeadLetter({ row, refusal: failure }, { ...options, kind })
  }
  const help = helpOf(isRefused ? 'rows_refused' : 'frame_postponed')
  log.error({ err: failure, kind, help }, 'a frame cannot be stored now; it is postponed')
  return false
}
