import type { ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { syncReplicas } from '@intake/schema'
import type {
  ChangePart,
  ChangesRead,
  ExportScope,
  Manifest,
  Part,
  Plan,
  Times,
} from './manifest.ts'
import { allTimes, changedRows, fingerprintChanges } from './read-changes.ts'
import { readDropped } from './read-dropped.ts'
import { arrivedRows, divide, readWindowEnd } from './read-records.ts'
import type { ExportTarget } from './target.ts'

export interface ExportOptions {
  clickhouse: ClickHouse
  installation: string
  target: ExportTarget
  scope: ExportScope
  /** About how many records a file has; default 250,000, which fit into memory. */
  rowsMax?: number
  signal?: AbortSignal
  /** Called before each window is written, and if there is none, never. */
  onWindow?: () => Promise<void>
  progress: (sentence: string) => void
}

/**
 * Within an hour, a change becomes visible after the moment that it is dated with; within a day, if
 * ClickHouse's clock was ahead at an export, and is right again.
 */
const overlapMs = dayMs
/** The clocks of servers differ by less. */
const clockErrorMs = 60_000
const epoch = new Date(0).toISOString()
const defaultRowsMax = 250_000

/** Decides the next window; undefined if there is nothing to export. */
export async function makePlan(
  options: ExportOptions,
  before: Manifest | undefined,
  visible: string | undefined,
): Promise<Plan | undefined> {
  const { clickhouse, scope, rowsMax = defaultRowsMax } = options
  await syncReplicas(clickhouse, ['logs_raw', 'feedback_raw', 'dead_letters_raw'])
  const from = before?.window.until ?? epoch
  const { now, until } = await readWindowEnd(options, { from, visible: visible ?? from })
  if (Date.parse(from) > Date.parse(now) + clockErrorMs) {
    throw new Error(
      `The last window ends in the future (${from}), because clocks were ahead. What arrives until then would be missing: choose an empty folder.`,
    )
  }
  const { changesFrom, isChanged } = await readChanges(options, before?.changes, now)
  const dropped = JSON.stringify(await readDropped(options))
  const isTold = before === undefined || JSON.stringify(before.dropped) === dropped
  if (until === from && !isChanged && isTold) return undefined
  const divisions = scope.kinds.map((kind): Promise<Part[]> => {
    const part = { kind, from, until }
    return divide(options, { part, rows: arrivedRows(options, part), rowsMax })
  })
  const plan = {
    number: (before?.number ?? 0) + 1,
    scope,
    window: { from, until },
    parts: (await Promise.all(divisions)).flat(),
    changes: { until: now, overlap: await fingerprintChanges(options, dayBefore(now)) },
    changesFrom,
  }
  // After the fingerprint: a change that became visible between them is exported again.
  return { ...plan, changeParts: await planChanges(options, plan) }
}

/** The first window has no corrections: it has the records themselves. */
async function planChanges(
  options: ExportOptions,
  { number, window, changes, changesFrom }: Omit<Plan, 'parts' | 'changeParts'>,
): Promise<ChangePart[]> {
  const { scope, rowsMax = defaultRowsMax } = options
  const times = { from: changesFrom, until: changes.until }
  const corrections = number === 1 ? [] : scope.kinds.map((corrects) => ({ ...allTimes, corrects }))
  const parts: ChangePart[] = []
  for (const part of [allTimes, ...corrections]) {
    const rows = changedRows(options, { times, part, arrivedBefore: window.from })
    parts.push(...(await divide<ChangePart>(options, { part, rows, rowsMax })))
  }
  return parts
}

/**
 * Decides from when on changes are read. Usually it is the end of the last reading. If a change
 * from before that became visible since, it is the beginning of the overlap, so some changes are
 * exported again.
 */
async function readChanges(
  options: ExportOptions,
  before: ChangesRead | undefined,
  now: string,
): Promise<{ changesFrom: string; isChanged: boolean }> {
  if (before === undefined) return { changesFrom: epoch, isChanged: false }
  // The clock was wrong: changes since it was corrected may be dated before the overlap.
  const isSetBack = Date.parse(now) < Date.parse(before.until) - clockErrorMs
  if (isSetBack) return { changesFrom: epoch, isChanged: true }
  const overlap = dayBefore(before.until)
  const isLate = (await fingerprintChanges(options, overlap)) !== before.overlap
  const added = await fingerprintChanges(options, { from: before.until, until: now })
  return {
    changesFrom: isLate ? overlap.from : before.until,
    isChanged: isLate || !added.startsWith('0-'),
  }
}

const dayBefore = (until: string): Times => ({
  from: new Date(Date.parse(until) - overlapMs).toISOString(),
  until,
})
