import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { crashText, fingerprint } from '@intake/schema'
import { arrivedInWindow, minutesInMs, querySettings, questionParams } from './question.ts'

export interface KnownCrashes {
  /**
   * Resolves to the crashes of an application that first arrived in the window, the latest first.
   * The first call for an application reads all its crashes; later calls, what has arrived since.
   */
  newIn(window: { bundle: string; minutes: number }, toMs: number): Promise<NewCrash[]>
}

export interface NewCrash {
  /** When the first one arrived, in milliseconds since 1970. */
  atMs: number
  /** Its stack trace. */
  example: string
}

interface Row {
  fingerprint: string
  at: string
  example: string
}

const exampleMax = 2_000
/** Rows that arrived so long before the last call are read again: they may have become visible late. */
const overlapMinutes = 10

export function createKnownCrashes(reader: Pick<ClickHouse, 'query'>): KnownCrashes {
  /** The crashes of each application by fingerprint, and until when it was read. */
  const known = new Map<string, { untilMs: number; crashes: Map<string, NewCrash> }>()

  return {
    async newIn({ bundle, minutes }, toMs) {
      const fromMs = toMs - minutesInMs(minutes)
      const { untilMs, crashes } = known.get(bundle) ?? {
        untilMs: undefined,
        crashes: new Map<string, NewCrash>(),
      }
      const sinceMinutes =
        untilMs && Math.max(0, Math.ceil((toMs - untilMs) / minutesInMs(1))) + overlapMinutes
      for (const row of await readCrashes(reader, { bundle, sinceMinutes, toMs })) {
        const atMs = Date.parse(isoTime(row.at))
        const before = crashes.get(row.fingerprint)
        // Only examples of new crashes are shown.
        const example = atMs >= fromMs ? row.example : ''
        if (before === undefined) crashes.set(row.fingerprint, { atMs, example })
      }
      known.set(bundle, { untilMs: Math.max(toMs, untilMs ?? 0), crashes })
      return [...crashes.values()]
        .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
        .toSorted((a, b) => b.atMs - a.atMs)
    },
  }
}

/** @param options.sinceMinutes reads only what arrived in so many minutes */
async function readCrashes(
  reader: Pick<ClickHouse, 'query'>,
  options: { bundle: string; sinceMinutes: number | undefined; toMs: number },
): Promise<Row[]> {
  const { bundle, sinceMinutes: minutes, toMs } = options
  const question = { id: '', bundle, event: '', versionName: '', minutes: minutes ?? 0 }
  const { oldest, from, to, applications } = questionParams([question], toMs)
  const where =
    minutes === undefined ? 'bundle_identifier IN {applications:Array(String)}' : arrivedInWindow
  return reader.query<Row>(
    `SELECT ${fingerprint('trace')} AS fingerprint, min(received_at) AS at,
       argMin(substringUTF8(trace, 1, ${exampleMax}), received_at) AS example
     FROM (
       SELECT received_at, ${crashText} AS trace FROM intake.logs WHERE event = 'crash' AND ${where}
     )
     GROUP BY fingerprint ${querySettings}`,
    { applications, ...(minutes !== undefined && { oldest, from, to }) },
  )
}
