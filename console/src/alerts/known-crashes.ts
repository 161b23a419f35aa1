import { isoTime } from '@intake/clickhouse'
import { minuteMs } from '@intake/contract'
import { crashText, fingerprint } from '@intake/schema'
import {
  arrivedInWindow,
  isImported,
  ofBundle,
  querySettings,
  windowParams,
  type Reader,
  type Window,
} from './count-windows.ts'

/** Without a limit, a client that makes up crashes would fill the memory. */
const crashesMax = 20_000
/** What arrived so long before the watermark is read again: a replica that is read may lag. */
const overlapMinutes = 10

/** The end of a window, in ms since 1970. */
interface End {
  toMs: number
  /** All that arrived before it is visible; not after `toMs`. */
  visibleUntilMs: number
}

/**
 * Creates a function that counts the crashes that first arrived in a window. The first call for an
 * application reads all of its crashes, each other one what arrived since. Beyond `crashesMax`,
 * those that arrived longest ago are forgotten, and are new when they arrive again: crashes that a
 * client makes up cannot hide another one.
 */
export function createKnownCrashes(reader: Reader) {
  /**
   * When the crashes of each application first arrived, by fingerprint, the last that arrived at the
   * end; and the time before which all have been read.
   */
  const known = new Map<string, { untilMs: number; crashes: Map<string, number> }>()

  async function readCrashes(
    bundle: string,
    { toMs, visibleUntilMs }: End,
  ): Promise<ReadonlyMap<string, number>> {
    const { untilMs, crashes } = known.get(bundle) ?? {
      untilMs: 0,
      crashes: new Map<string, number>(),
    }
    for (const print of crashes.keys()) if (crashes.size > crashesMax) crashes.delete(print)
    const minutes = Math.max(0, Math.ceil((toMs - untilMs) / minuteMs)) + overlapMinutes
    const rows = await reader.query<{ print: string; at: string }>(
      // An imported crash is known, and never new.
      `SELECT ${fingerprint(crashText)} AS print,
         min(if(${isImported}, toDateTime64(0, 3, 'UTC'), received_at)) AS at
       FROM intake.logs WHERE event = 'crash' AND ${untilMs === 0 ? ofBundle : arrivedInWindow}
       GROUP BY print ORDER BY max(received_at) DESC LIMIT ${crashesMax + 1} ${querySettings}`,
      untilMs === 0 ? { bundle } : windowParams({ bundle, minutes }, toMs),
    )
    for (const { print, at } of rows.toReversed()) {
      const firstMs = crashes.get(print) ?? Date.parse(isoTime(at))
      crashes.delete(print)
      crashes.set(print, firstMs)
    }
    known.set(bundle, { untilMs: Math.max(untilMs, visibleUntilMs), crashes })
    return crashes
  }

  return async ({ bundle, minutes }: Window, end: End): Promise<number> => {
    const { toMs } = end
    const fromMs = toMs - minutes * minuteMs
    const firsts = [...(await readCrashes(bundle, end)).values()]
    return firsts.filter((atMs) => atMs >= fromMs && atMs < toMs).length
  }
}
