import { setTimeout as pause } from 'node:timers/promises'
import { addDeadLetter, ClickHouseError } from '@intake/clickhouse'
import type { Frame, RecordKind } from '@intake/contract'
import type { Logger } from '@intake/runtime'
import type { WorkerMetrics } from './metrics.ts'
import type { RowStore } from './ports.ts'
import { rowsOf, splitFrame } from './split-frame.ts'

const pauseMinMs = 1_000
const pauseMaxMs = 60_000
/** A merge is taken apart after its rows were refused this often in a row, its parts at once. */
const mergeRefusalsMax = 2
const partRefusalsMax = 1

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
 * row becomes a dead letter and all others are stored. Rejects only after `signal`; the rows may
 * then be stored or not.
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
  const refusal = await untilSettled({ ...options, rows, refusalsMax }, () =>
    store.insertGzip({ table: kind, members, rows, signal }),
  )
  if (refusal === undefined) return metrics.inserted(kind, rows)

  const [only] = frames
  if (only !== undefined && rows === 1) return bury(only, refusal, options)
  const parts = only !== undefined && frames.length === 1 ? await splitFrame(only) : frames
  const half = Math.ceil(parts.length / 2)
  await insertOrSplit(parts.slice(0, half), partRefusalsMax, options)
  await insertOrSplit(parts.slice(half), partRefusalsMax, options)
}

/** Puts a single refused row where it waits for a person. */
async function bury(
  frame: Frame,
  refusal: ClickHouseError,
  options: StoreFramesOptions,
): Promise<void> {
  const { kind, store, metrics, log } = options
  const [row = ''] = await rowsOf(frame)
  await untilSettled({ ...options, rows: 1, refusalsMax: Infinity }, () =>
    addDeadLetter(store, { table: kind, row, refusal }),
  )
  metrics.buried(kind)
  log.error(
    { kind, code: refusal.code, help: 'docs/operations/dead-letters.md' },
    'a row was refused and is now a dead letter',
  )
}

/**
 * Repeats an insert until it is confirmed, or until its rows have been refused `refusalsMax` times
 * in a row: then resolves to the refusal.
 */
async function untilSettled(
  options: StoreFramesOptions & { rows: number; refusalsMax: number },
  insert: () => Promise<void>,
): Promise<ClickHouseError | undefined> {
  const { kind, rows, refusalsMax, metrics, log, signal } = options
  let refusals = 0
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    signal.throwIfAborted()
    try {
      await insert()
      return undefined
    } catch (err) {
      signal.throwIfAborted()
      const failure = err instanceof ClickHouseError ? err.kind : 'retry'
      metrics.failed(kind, failure)
      refusals = failure === 'data' ? refusals + 1 : 0
      if (err instanceof ClickHouseError && refusals >= refusalsMax) return err
      log.error(
        { err, kind, rows, help: `docs/operations/insert-${failure}.md` },
        'insert failed; it will be repeated',
      )
    }
    await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal })
  }
}
