import { leftOutOutcomes, nonErrorOutcomes } from '@intake/contract'
import { type RecordReader } from './records.ts'
import { inWindow, seriesOf, startsOf, stepOf, windowParams, type Steps } from './period.ts'

export type Arrivals = {
  /** Beginning of the step in ms since 1970. */
  t: number
  events: number
  feedback: number
  refused: number
  /** The records that were acknowledged but not stored, because of a rule or an erasure. */
  leftOut: number
}

const sqlList = (codes: readonly string[]) => codes.map((code) => `'${code}'`).join(', ')

export const isRefusal = (code: string): boolean =>
  !(nonErrorOutcomes as readonly string[]).includes(code)

const isRefused = `code NOT IN (${sqlList(nonErrorOutcomes)})`
const period = inWindow('minute')

/** Gateways have counted them, so no record is read. */
export async function readArrivals(reader: RecordReader, steps: Steps): Promise<Arrivals[]> {
  const rows = await reader.query<Omit<Arrivals, 't'> & { at: number }>(
    `SELECT ${stepOf('minute', steps)} AS at,
       sumIf(records, code = 'accepted' AND kind = 'logs') AS events,
       sumIf(records, code = 'accepted' AND kind = 'feedback') AS feedback,
       sumIf(records, ${isRefused}) AS refused,
       sumIf(records, code IN (${sqlList(leftOutOutcomes)})) AS leftOut
     FROM intake.outcomes WHERE ${period} GROUP BY at`,
    windowParams(steps),
  )
  const found = new Map(rows.map((row) => [row.at * 1_000, row]))
  return startsOf(steps).map((t) => {
    const { events = 0, feedback = 0, refused = 0, leftOut = 0 } = found.get(t) ?? {}
    return { t, events, feedback, refused, leftOut }
  })
}

/** What came with one API key and had the same outcome, an `OutcomeCode`. */
export interface KeyOutcome {
  /** Empty if no key was found valid before the outcome, and for the outcome `overflow`. */
  api_key_id: string
  code: string
  records: number
  /** The last minute in which the key had this outcome, in UTC. */
  last: string
  series: number[]
}

export const outcomesMax = 200

export async function readKeyOutcomes(
  reader: RecordReader,
  steps: Steps,
  { onlyRefused }: { onlyRefused: boolean },
): Promise<KeyOutcome[]> {
  const rows = await reader.query<Omit<KeyOutcome, 'series'> & { counts: [number, number][] }>(
    `SELECT api_key_id, code, sum(number) AS records, max(latest) AS last, groupArray(CAST((at, number), 'Tuple(UInt32, UInt64)')) AS counts
     FROM (
       SELECT api_key_id, code, ${stepOf('minute', steps)} AS at, sum(records) AS number, max(minute) AS latest
       FROM intake.outcomes WHERE ${period} ${onlyRefused ? `AND ${isRefused}` : ''}
       GROUP BY api_key_id, code, at)
     GROUP BY api_key_id, code ORDER BY records DESC, api_key_id, code LIMIT ${outcomesMax}`,
    windowParams(steps),
  )
  return rows.map(({ counts, ...row }) => ({ ...row, series: seriesOf(counts, steps) }))
}
