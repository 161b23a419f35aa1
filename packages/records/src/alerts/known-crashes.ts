import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { crashText, fingerprint } from '@intake/schema'
import { arrivedInWindow, minutesInMs, querySettings, windowParams } from './question.ts'

export interface KnownCrashes {
  /**
   * Counts the crashes that first arrived in the window. The first call for an application reads
   * all of them.
   * @throws {Error} if it has more than `crashesMax`
   */
  newIn(
    window: { bundle: string; minutes: number },
    toMs: number,
  ): Promise<{ crashes: number; example: string }>
}

/** Nobody looks at so many; without a limit, a client that makes up crashes would fill the memory. */
const crashesMax = 20_000
const exampleMax = 2_000
/** SQL for what an alert shows of a stack trace. */
export const exampleOf = (trace: string): string => `substringUTF8(${trace}, 1, ${exampleMax})`
/** Rows that arrived so long before the last call are read again: they may have become visible late. */
const overlapMinutes = 10

export function createKnownCrashes(reader: Pick<ClickHouse, 'query'>): KnownCrashes {
  /** When the crashes of each application first arrived, by fingerprint; and until when it was read. */
  const known = new Map<string, { untilMs: number; crashes: Map<string, number> }>()

  return {
    async newIn({ bundle, minutes }, toMs) {
      const fromMs = toMs - minutesInMs(minutes)
      const { untilMs, crashes } = known.get(bundle) ?? {
        untilMs: undefined,
        crashes: new Map<string, number>(),
      }
      if (crashes.size > crashesMax) throw tooMany(bundle)
      const sinceMinutes =
        untilMs && Math.max(0, Math.ceil((toMs - untilMs) / minutesInMs(1))) + overlapMinutes
      for (const row of await readCrashes(reader, { bundle, sinceMinutes, toMs })) {
        if (!crashes.has(row.fingerprint)) crashes.set(row.fingerprint, Date.parse(isoTime(row.at)))
      }
      known.set(bundle, { untilMs: Math.max(toMs, untilMs ?? 0), crashes })
      if (crashes.size > crashesMax) throw tooMany(bundle)
      const found = [...crashes]
        .filter(([, atMs]) => atMs >= fromMs && atMs < toMs)
        .toSorted(([, a], [, b]) => b - a)
      const latest = found[0]?.[0]
      const example =
        latest === undefined ? '' : await readExample(reader, { bundle, minutes, toMs }, latest)
      return { crashes: found.length, example }
    },
  }
}

const tooMany = (bundle: string) =>
  new Error(`${bundle} has more than ${crashesMax} different crashes`)

const crashesOf = (where: string) =>
  `SELECT received_at, ${crashText} AS trace FROM intake.logs WHERE event = 'crash' AND ${where}`

/** @param options.sinceMinutes reads only what arrived in so many minutes */
async function readCrashes(
  reader: Pick<ClickHouse, 'query'>,
  options: { bundle: string; sinceMinutes: number | undefined; toMs: number },
): Promise<{ fingerprint: string; at: string }[]> {
  const { bundle, sinceMinutes: minutes, toMs } = options
  const where =
    minutes === undefined ? 'bundle_identifier IN {applications:Array(String)}' : arrivedInWindow
  return reader.query(
    `SELECT ${fingerprint('trace')} AS fingerprint, min(received_at) AS at
     FROM (${crashesOf(where)}) GROUP BY fingerprint LIMIT ${crashesMax + 1} ${querySettings}`,
    { applications: [bundle], ...(minutes !== undefined && windowParams(minutes, toMs)) },
  )
}

async function readExample(
  reader: Pick<ClickHouse, 'query'>,
  { bundle, minutes, toMs }: { bundle: string; minutes: number; toMs: number },
  print: string,
): Promise<string> {
  const [row] = await reader.query<{ example: string }>(
    `SELECT ${exampleOf('trace')} AS example FROM (${crashesOf(arrivedInWindow)})
     WHERE ${fingerprint('trace')} = {print:String} ORDER BY received_at LIMIT 1 ${querySettings}`,
    { applications: [bundle], ...windowParams(minutes, toMs), print },
  )
  return row?.example ?? ''
}
