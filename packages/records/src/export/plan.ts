import type { ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { syncReplicas } from '@intake/schema'
import type { ExportScope, Manifest, Plan, Times } from './manifest.ts'
import { countArrived, readChanges } from './read-records.ts'
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

/**
 * Decides the next window, and of which time the changes are; undefined if there is nothing to
 * export. Each has at most about `rowsMax` rows.
 *
 * @param limits.visible up to when all records are visible
 */
export async function makePlan(
  options: ExportOptions,
  before: Manifest | undefined,
  { visible = epoch, rowsMax }: { visible: string | undefined; rowsMax: number },
): Promise<Plan | undefined> {
  const { clickhouse, scope } = options
  await syncReplicas(clickhouse, ['logs_raw', 'feedback_raw', 'dead_letters_raw'])
  const from = before?.window.until ?? epoch
  const overlap = dayBefore(before?.changes.until ?? epoch)
  const { now, print } = await readChanges(options, overlap)
  // A change from before the last reading has become visible since: some are exported again.
  const isLate = before !== undefined && print !== before.changes.overlap
  // The first window has the records as they are.
  const changesFrom = isLate ? overlap.from : (before?.changes.until ?? now)
  for (const last of [from, changesFrom]) {
    if (Date.parse(last) <= Date.parse(now) + clockErrorMs) continue
    throw new Error(
      `The last window ends in the future (${last}), because clocks were ahead. What arrives until then would be missing: choose an empty folder.`,
    )
  }
  const countChanges = async (times: Times) => (await readChanges(options, times)).rows
  const changesUntil = await shorten({ from: changesFrom, until: now }, rowsMax, countChanges)
  // A record that was replayed before `now` is a correction, or in a window that follows.
  const hasAllChanges = changesUntil === now
  const until =
    hasAllChanges && visible > from
      ? await findEnd(options, { from, until: visible }, rowsMax)
      : from
  const changes = { from: changesFrom, until: changesUntil }
  if (until === from && (await countChanges(changes)) === 0) return undefined
  return {
    number: (before?.number ?? 0) + 1,
    scope,
    window: { from, until },
    changesFrom,
    // Before the changes are read: one that becomes visible between is exported again.
    changes: {
      until: changesUntil,
      overlap: (await readChanges(options, dayBefore(changesUntil))).print,
    },
  }
}

/** A window ends at the latest with the day in which its first record arrived. */
async function findEnd(options: ExportOptions, times: Times, rowsMax: number): Promise<string> {
  const from = Date.parse(times.from)
  const before = (ms: number) => new Date(Math.min(ms, Date.parse(times.until))).toISOString()
  // Within a day first: counting all that follow, for each window, takes quadratic time.
  let found = await countArrived(options, { ...times, until: before(from + dayMs) })
  if (found.rows === 0) found = await countArrived(options, times)
  if (found.rows === 0) return times.until
  const { first } = found
  const until = before((Math.floor(Date.parse(first) / dayMs) + 1) * dayMs)
  const count = async (part: Times) => (await countArrived(options, part)).rows
  return shorten({ from: first, until }, rowsMax, count)
}

/** Ends a time earlier if it has more than about `rowsMax` rows. */
async function shorten(
  { from, until }: Times,
  rowsMax: number,
  countRows: (times: Times) => Promise<number>,
): Promise<string> {
  for (let end = until; ;) {
    const ms = Date.parse(end) - Date.parse(from)
    if (ms <= 1 || (await countRows({ from, until: end })) <= rowsMax) return end
    end = new Date(Date.parse(from) + Math.ceil(ms / 2)).toISOString()
  }
}

const dayBefore = (until: string): Times => ({
  from: new Date(Date.parse(until) - overlapMs).toISOString(),
  until,
})
