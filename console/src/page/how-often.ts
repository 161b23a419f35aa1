import { dayMs } from '@intake/contract'
import { whereOf } from './list-records.ts'
import type { NameCount } from './read-counts.ts'
import { cutName, type FullRecord, type RecordReader } from './records.ts'
import { searchLengthMax, type Search } from './search.ts'

/** Params in which apps give the reason of a crash or an error; the first that is a text counts. */
const reasonParams = ['reason', 'message', 'error', 'exception', 'title']
const days = 30

export interface HowOften {
  /** The event, and the reason in its params if it has one. */
  search: Search
  events: number
  devices: number
  /** Times of the first and the last one, as ClickHouse prints them. */
  first: string
  last: string
  versions: NameCount[]
}

/** The param that says why an event happened, with its text; undefined if it has none. */
export function reasonOf({ columns }: FullRecord): { param: string; text: string } | undefined {
  const params = (columns['params'] ?? {}) as Record<string, unknown>
  const param = reasonParams.find((name) => typeof params[name] === 'string' && params[name] !== '')
  return param === undefined ? undefined : { param, text: params[param] as string }
}

export async function readHowOften(
  reader: RecordReader,
  record: FullRecord,
): Promise<HowOften | undefined> {
  const { bundle_identifier: application, event } = record.columns
  const reason = reasonOf(record)
  const search: Search = {
    application,
    event: String(event),
    ...(reason !== undefined &&
      reason.text.length <= searchLengthMax && {
        paths: { [`params.${reason.param}`]: reason.text },
      }),
  }
  const now = Date.now()
  const { where, params } = whereOf(search, { from: now - days * dayMs, to: now + dayMs })
  const [total, ...versions] = await reader.query<
    NameCount & Omit<HowOften, 'search' | 'versions'>
  >(
    `SELECT ${cutName("ifNull(device.version_name, '')")} AS name, count() AS count, count AS events,
       uniq(device_uuid) AS devices, min(time) AS first, max(time) AS last
     FROM intake.logs WHERE ${where}
     GROUP BY GROUPING SETS ((), (name)) ORDER BY grouping(name) DESC, count DESC, name LIMIT 7`,
    params,
  )
  return total && { search, ...total, versions }
}
