import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { crashExample, crashText, fingerprint } from '@intake/schema'
import {
  arrivedInWindow,
  isImported,
  minuteMs,
  querySettings,
  windowParams,
} from './count-windows.ts'

/** Without a limit, a client that makes up crashes would fill the memory. */
const crashesMax = 20_000
/** Rows that arrived so long before the last call are read again: they may have become visible late. */
const overlapMinutes = 10

/**
 * Creates a function that counts the crashes that first arrived in a window, with the stack trace
 * of the latest one. The first call for an application reads all of its crashes; if it has more than
 * `crashesMax`, which are not remembered, each call does.
 */
export function createKnownCrashes(reader: Pick<ClickHouse, 'query'>) {
  /** When the crashes of each application first arrived, by fingerprint; and until when it was read. */
  const known = new Map<string, { untilMs?: number; crashes: Map<string, number> }>()

  /** @param minutes reads only what arrived in so many minutes */
  const readCrashes = (bundle: string, minutes: number | undefined, toMs: number) =>
    reader.query<{ fingerprint: string; at: string }>(
      `SELECT ${fingerprint('trace')} AS fingerprint, min(arrived_at) AS at
       FROM (${crashesOf(minutes === undefined ? 'bundle_identifier = {bundle:String}' : arrivedInWindow)})
       GROUP BY fingerprint LIMIT ${crashesMax + 1} ${querySettings}`,
      minutes === undefined ? { bundle } : windowParams({ bundle, minutes }, toMs),
    )

  /** Counts the crashes of an application with too many of them to be remembered. */
  async function countAmongMany({ bundle, minutes }: Asked, toMs: number): Promise<Counted> {
    const [row] = await reader.query<Counted>(
      `SELECT toUInt32(count()) AS crashes, argMax(fingerprint, at) AS latest
       FROM (
         SELECT ${fingerprint('trace')} AS fingerprint, min(arrived_at) AS at
         FROM (${crashesOf('bundle_identifier = {bundle:String}')}) GROUP BY fingerprint)
       WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')} ${querySettings}`,
      windowParams({ bundle, minutes }, toMs),
    )
    return row ?? { crashes: 0, latest: '' }
  }

  async function count({ bundle, minutes }: Asked, toMs: number): Promise<Counted> {
    const of = known.get(bundle) ?? { crashes: new Map<string, number>() }
    const { untilMs, crashes } = of
    if (crashes.size > crashesMax) return countAmongMany({ bundle, minutes }, toMs)
    const sinceMinutes =
      untilMs && Math.max(0, Math.ceil((toMs - untilMs) / minuteMs)) + overlapMinutes
    for (const row of await readCrashes(bundle, sinceMinutes, toMs)) {
      if (!crashes.has(row.fingerprint)) crashes.set(row.fingerprint, Date.parse(isoTime(row.at)))
    }
    known.set(bundle, { untilMs: Math.max(toMs, untilMs ?? 0), crashes })
    if (crashes.size > crashesMax) return countAmongMany({ bundle, minutes }, toMs)
    const found = [...crashes]
      .filter(([, atMs]) => atMs >= toMs - minutes * minuteMs && atMs < toMs)
      .toSorted(([, a], [, b]) => b - a)
    return { crashes: found.length, latest: found[0]?.[0] ?? '' }
  }

  return async (
    { bundle, minutes }: Asked,
    toMs: number,
  ): Promise<{ crashes: number; example: string }> => {
    const { crashes, latest } = await count({ bundle, minutes }, toMs)
    if (crashes === 0) return { crashes, example: '' }
    const [row] = await reader.query<{ example: string }>(
      `SELECT ${crashExample('trace')} AS example FROM (${crashesOf(arrivedInWindow)})
       WHERE ${fingerprint('trace')} = {print:String} ORDER BY arrived_at LIMIT 1 ${querySettings}`,
      { ...windowParams({ bundle, minutes }, toMs), print: latest },
    )
    return { crashes, example: row?.example ?? '' }
  }
}

interface Asked {
  bundle: string
  minutes: number
}

interface Counted {
  crashes: number
  /** The fingerprint of the one that arrived last; empty if there is none. */
  latest: string
}

/** An imported crash is known, and never new. */
const crashesOf = (where: string) =>
  `SELECT if(${isImported}, toDateTime64(0, 3, 'UTC'), received_at) AS arrived_at, ${crashText} AS trace
   FROM intake.logs WHERE event = 'crash' AND ${where}`
