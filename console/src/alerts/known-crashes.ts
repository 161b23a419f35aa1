import { isoTime } from '@intake/clickhouse'
import { minuteMs } from '@intake/contract'
import { crashExample, crashText, fingerprint } from '@intake/schema'
import {
  arrivedInWindow,
  isImported,
  ofBundle,
  querySettings,
  windowParams,
  type Reader,
  type Window,
} from './count-windows.ts'
import type { Found } from './judge.ts'

/** Without a limit, a client that makes up crashes would fill the memory. */
const crashesMax = 20_000
/** What arrived so long before the watermark is read again: a replica that is read may lag. */
const overlapMinutes = 10

/** An imported crash is known, and never new. */
const crashesOf = (where: string) =>
  `SELECT if(${isImported}, toDateTime64(0, 3, 'UTC'), received_at) AS arrived_at, ${crashText} AS trace
   FROM intake.logs WHERE event = 'crash' AND ${where}`

const firstArrivals = (where: string) =>
  `SELECT ${fingerprint('trace')} AS fingerprint, min(arrived_at) AS at
   FROM (${crashesOf(where)}) GROUP BY fingerprint`

/** The end of a window, in ms since 1970. */
interface End {
  toMs: number
  /** All that arrived before it is visible. */
  visibleUntilMs: number
}

interface Counted {
  crashes: number
  /** The fingerprint of the one that arrived last; empty if there is none. */
  latest: string
}

/**
 * Creates a function that counts the crashes that first arrived in a window, with the stack trace
 * of the latest one. The first call for an application reads all of its crashes; if it has more than
 * `crashesMax`, which are not remembered, each call does.
 */
export function createKnownCrashes(reader: Reader) {
  /**
   * When the crashes of each application first arrived, by fingerprint; and the time before which
   * all have been read.
   */
  const known = new Map<string, { untilMs: number; crashes: Map<string, number> }>()

  /** Reads what arrived since the last call; returns the crashes, or `crashesMax + 1` of them. */
  async function readCrashes(
    bundle: string,
    { toMs, visibleUntilMs }: End,
  ): Promise<Map<string, number>> {
    const { untilMs, crashes } = known.get(bundle) ?? {
      untilMs: 0,
      crashes: new Map<string, number>(),
    }
    if (crashes.size > crashesMax) return crashes
    const minutes = Math.max(0, Math.ceil((toMs - untilMs) / minuteMs)) + overlapMinutes
    const rows = await reader.query<{ fingerprint: string; at: string }>(
      `${firstArrivals(untilMs === 0 ? ofBundle : arrivedInWindow)} LIMIT ${crashesMax + 1} ${querySettings}`,
      untilMs === 0 ? { bundle } : windowParams({ bundle, minutes }, toMs),
    )
    for (const { fingerprint: print, at } of rows) {
      if (!crashes.has(print)) crashes.set(print, Date.parse(isoTime(at)))
    }
    known.set(bundle, { untilMs: Math.max(untilMs, Math.min(toMs, visibleUntilMs)), crashes })
    return crashes
  }

  async function count({ bundle, minutes }: Window, end: End): Promise<Counted> {
    const { toMs } = end
    const crashes = await readCrashes(bundle, end)
    if (crashes.size > crashesMax) {
      const [counted] = await reader.query<Counted>(
        `SELECT toUInt32(count()) AS crashes, argMax(fingerprint, at) AS latest
         FROM (${firstArrivals(ofBundle)})
         WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')} ${querySettings}`,
        windowParams({ bundle, minutes }, toMs),
      )
      return counted!
    }
    const found = [...crashes]
      .filter(([, atMs]) => atMs >= toMs - minutes * minuteMs && atMs < toMs)
      .toSorted(([, a], [, b]) => b - a)
    return { crashes: found.length, latest: found[0]?.[0] ?? '' }
  }

  return async (window: Window, end: End): Promise<Found> => {
    const { crashes, latest } = await count(window, end)
    if (crashes === 0) return { value: crashes, detail: '' }
    const [row] = await reader.query<{ example: string }>(
      `SELECT ${crashExample('trace')} AS example FROM (${crashesOf(arrivedInWindow)})
       WHERE ${fingerprint('trace')} = {print:String} ORDER BY arrived_at LIMIT 1 ${querySettings}`,
      { ...windowParams(window, end.toMs), print: latest },
    )
    return { value: crashes, detail: row?.example ?? '' }
  }
}
