import { dayMs } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'
import type { TimeWindow } from './period.ts'

const widthsMs = [dayMs / 24, dayMs, 30 * dayMs, Infinity]
/** The time after which no further window is read. */
const budgetMs = 6_000

/**
 * Reads up to `rowsMax` rows from the end of the period, or `forwards` from its beginning: one
 * window of time after another, each longer than the one before, so that a page of new rows is found
 * in a small part of the table.
 *
 * @returns `unread`: the part of the period that was not searched, because that would have taken
 * longer than `budgetMs`
 */
export async function readInWindows<Row>(options: {
  within: TimeWindow
  forwards?: boolean
  rowsMax: number
  read: (window: TimeWindow, rowsMax: number) => Promise<Row[]>
  clock?: Pick<Clock, 'now'>
}): Promise<{ rows: Row[]; unread?: TimeWindow }> {
  const { forwards = false, rowsMax, read, clock = systemClock } = options
  const deadline = clock.now() + budgetMs
  const rows: Row[] = []
  let rest = options.within
  for (const widthMs of widthsMs) {
    if (rest.from >= rest.to) break
    const window = forwards
      ? { from: rest.from, to: Math.min(rest.to, rest.from + widthMs) }
      : { from: Math.max(rest.from, rest.to - widthMs), to: rest.to }
    rows.push(...(await read(window, rowsMax - rows.length)))
    if (rows.length >= rowsMax) return { rows }
    rest = forwards ? { from: window.to, to: rest.to } : { from: rest.from, to: window.from }
    if (clock.now() > deadline && rest.from < rest.to) return { rows, unread: rest }
  }
  return { rows }
}
