import { setTimeout as pause } from 'node:timers/promises'
import { addDeadLetter, ClickHouseError, hasUnknownCode } from '@intake/clickhouse'
import type { Frame, RecordKind } from '@intake/contract'
import type { Logger } from '@intake/runtime'
import type { WorkerMetrics } from './metrics.ts'
import type { RowStore } from './ports.ts'
import { rowsOf, splitRows } from './split-frame.ts'

const pauseMinMs = 1_000
const pauseMaxMs = 60_000
/**
 * How often in a row an insert may fail before it is taken apart: by refusals of its rows (the parts
 * of a merge that was refused are taken apart at once), and by failures that its size may cause. And how
 * often a single row may meet a code that this version does not know, before that counts as a refusal:
 * for a minute and a half.
 */
const mergeRefusalsMax = 2
const partRefusalsMax = 1
const splitFailuresMax = 4
const unknownCodesMax = 8

export interface StoreFramesOptions {
  store: RowStore
  kind: RecordKind
  metrics: WorkerMetrics
  log: Logger
  /** Ends the repeating: the frames then go back to the queue. */
  signal: AbortSignal
}

/**
 * Stores every row of the frames, however long that takes: an insert that was not confirmed is
 * repeated, with pauses that double from one second to a minute. While it is being repeated the
 * frames stay in hand, so no more are fetched than can be held.
 *
 * When ClickHouse refuses the rows themselves, the merge is halved until the bad row is alone; that
 * row becomes a dead letter and all others are stored. A merge that may be too large is halved too;
 * a single row is then repeated like any other. With a code that nobody knows it would hold up all
 * others, so it becomes a dead letter too, if ClickHouse takes that while it refuses the row. Rejects only
 * after `signal`; the rows may then be stored or not.
 */
export async function storeFrames(frames: Frame[], options: StoreFramesOptions): Promise<void> {
  await insertOrSplit(frames, mergeRefusalsMax, options)
}

async function insertOrSplit(
  frames: Frame[],
  refusalsMax: number,
  options: StoreFramesOptions,
): Promise<void> {
  const { kind, store, metrics, signal } = options
  const rows = frames.reduce((sum, frame) => sum + frame.rows, 0)
  const members = frames.map(({ gzip }) => gzip)
  const isOver = ({ refusals, splitFailures, unknownCodes }: FailuresInARow) =>
    refusals >= refusalsMax ||
    (splitFailures >= splitFailuresMax && rows > 1) ||
    unknownCodes >= unknownCodesMax
  const failure = await untilSettled({ ...options, rows, isOver }, () =>
    store.insertGzip({ table: kind, members, rows, signal }),
  )
  if (failure === undefined) return metrics.inserted(kind, rows)

  const [only] = frames
  const unpacked = only !== undefined && frames.length === 1 ? await rowsOf(only) : undefined
  if (only !== undefined && unpacked !== undefined && unpacked.length <= 1) {
    const row = unpacked[0] ?? only.gzip.toString('base64')
    if (await bury({ row, refusal: failure }, options)) return
    return insertOrSplit(frames, refusalsMax, options)
  }
  const parts = unpacked === undefined ? frames : splitRows(unpacked)
  const half = Math.ceil(parts.length / 2)
  await insertOrSplit(parts.slice(0, half), partRefusalsMax, options)
  await insertOrSplit(parts.slice(half), partRefusalsMax, options)
}

/**
 * Puts a single refused row where it waits for a person. Resolves to false when it was refused for a
 * reason that nobody knows and the dead letter fares no better: then it may not be this row.
 */
async function bury(
  { row, refusal }: { row: string; refusal: ClickHouseError },
  options: StoreFramesOptions,
): Promise<boolean> {
  const { kind, store, metrics, log } = options
  const isOver = () => hasUnknownCode(refusal)
  const failure = await untilSettled({ ...options, rows: 1, isOver }, () =>
    addDeadLetter(store, { table: kind, row, refusal }),
  )
  if (failure !== undefined) {
    const help = `docs/operations/insert-${failure.kind}.md`
    log.error({ err: failure, kind, help }, 'a dead letter failed; its row is tried again')
    return false
  }
  metrics.buried(kind)
  log.error(
    { kind, code: refusal.code, help: 'docs/operations/dead-letters.md' },
    'a row was refused and is now a dead letter',
  )
  return true
}

interface FailuresInARow {
  refusals: number
  splitFailures: number
  unknownCodes: number
}

/**
 * Repeats an insert until it is confirmed, or until it has failed so often in a row that it is over:
 * then it resolves to the failure.
 */
async function untilSettled(
  options: StoreFramesOptions & { rows: number; isOver: (failures: FailuresInARow) => boolean },
  insert: () => Promise<void>,
): Promise<ClickHouseError | undefined> {
  const { kind, rows, isOver, metrics, log, signal } = options
  let inARow: FailuresInARow = { refusals: 0, splitFailures: 0, unknownCodes: 0 }
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    signal.throwIfAborted()
    try {
      await insert()
      return undefined
    } catch (err) {
      signal.throwIfAborted()
      const failure = err instanceof ClickHouseError ? err.kind : 'retry'
      metrics.failed(kind, failure)
      inARow = {
        refusals: failure === 'data' ? inARow.refusals + 1 : 0,
        splitFailures: failure === 'split' ? inARow.splitFailures + 1 : 0,
        unknownCodes: hasUnknownCode(err) ? inARow.unknownCodes + 1 : 0,
      }
      if (err instanceof ClickHouseError && isOver(inARow)) return err
      log.error(
        { err, kind, rows, help: `docs/operations/insert-${failure}.md` },
        'insert failed; it will be repeated',
      )
    }
    await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal })
  }
}
