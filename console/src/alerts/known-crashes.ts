import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { crashExample, crashText, fingerprint } from '@intake/schema'
import { arrivedInWindow, minuteMs, querySettings, windowParams } from './count-windows.ts'

/** Nobody looks at so many; without a limit, a client that makes up crashes would fill the memory. */
const crashesMax = 20_000
/** Rows that arrived so long before the last call are read again: they may have become visible late. */
const overlapMinutes = 10

/**
 * Creates a function that counts the crashes that first arrived in a window, with the stack trace
 * of the latest one. The first call for an application reads all of its crashes. Rejects if it has
 * more than `crashesMax`.
 */
export function createKnownCrashes(reader: Pick<ClickHouse, 'query'>) {
  /** When the crashes of each application first arrived, by fingerprint; and until when it was read. */
  const known = new Map<string, { untilMs?: number; crashes: Map<string, number> }>()

  /** @param minutes reads only what arrived in so many minutes */
  const readCrashes = (bundle: string, minutes: number | undefined, toMs: number) =>
    reader.query<{ fingerprint: string; at: string }>(
      `SELECT ${fingerprint('trace')} AS fingerprint, min(received_at) AS at
       FROM (${crashesOf(minutes === undefined ? 'bundle_identifier = {bundle:String}' : arrivedInWindow)})
       GROUP BY fingerprint LIMIT ${crashesMax + 1} ${querySettings}`,
      minutes === undefined ? { bundle } : windowParams({ bundle, minutes }, toMs),
    )

  return async (
    { bundle, minutes }: { bundle: string; minutes: number },
    toMs: number,
  ): Promise<{ crashes: number; example: string }> => {
    const of = known.get(bundle) ?? { crashes: new Map<string, number>() }
    const { untilMs, crashes } = of
    if (crashes.size > crashesMax) throw tooMany(bundle)
    const sinceMinutes =
      untilMs && Math.max(0, Math.ceil((toMs - untilMs) / minuteMs)) + overlapMinutes
    for (const row of await readCrashes(bundle, sinceMinutes, toMs)) {
      if (!crashes.has(row.fingerprint)) crashes.set(row.fingerprint, Date.parse(isoTime(row.at)))
    }
    known.set(bundle, { untilMs: Math.max(toMs, untilMs ?? 0), crashes })
    if (crashes.size > crashesMax) throw tooMany(bundle)
    const found = [...crashes]
      .filter(([, atMs]) => atMs >= toMs - minutes * minuteMs && atMs < toMs)
      .toSorted(([, a], [, b]) => b - a)
    const latest = found[0]?.[0]
    if (latest === undefined) return { crashes: 0, example: '' }
    const [row] = await reader.query<{ example: string }>(
      `SELECT ${crashExample('trace')} AS example FROM (${crashesOf(arrivedInWindow)})
       WHERE ${fingerprint('trace')} = {print:String} ORDER BY received_at LIMIT 1 ${querySettings}`,
      { ...windowParams({ bundle, minutes }, toMs), print: latest },
    )
    return { crashes: found.length, example: row?.example ?? '' }
  }
}

const tooMany = (bundle: string) =>
  new Error(`${bundle} has more than ${crashesMax} different crashes`)

const crashesOf = (where: string) =>
  `SELECT received_at, ${crashText} AS trace FROM intake.logs WHERE event = 'crash' AND ${where}`
