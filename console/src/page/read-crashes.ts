import { isoTime } from '@intake/clickhouse'
import type { TimeWindow } from './read-in-windows.ts'
import { cutName, querySettings, type RecordReader } from './records.ts'

/** A crash of an application, by the fingerprint of its stack trace. */
export interface Crash {
  /** The first line of the stack trace of the latest one. */
  title: string
  example_id: string
  first_version: string
  last_version: string
  devices: number
  events: number
  /** When the first one happened, in milliseconds since 1970. */
  newSinceMs: number
}

const crashesMax = 5

export async function readCrashes(
  reader: RecordReader,
  { from }: Pick<TimeWindow, 'from'>,
  application: string,
): Promise<Crash[]> {
  const rows = await reader.query<Omit<Crash, 'newSinceMs'> & { new_since: string }>(
    `SELECT ${cutName("splitByChar('\\n', example)[1]")} AS title, example_id, ${cutName('first_version')} AS first_version,
       ${cutName('last_version')} AS last_version, devices, events, new_since
     FROM intake.crashes AS crashes
     WHERE bundle_identifier = {application:String} AND last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
     ORDER BY devices DESC, fingerprint LIMIT ${crashesMax} ${querySettings}`,
    { application, from },
  )
  return rows.map(({ new_since: since, ...row }) => ({
    ...row,
    newSinceMs: Date.parse(isoTime(since)),
  }))
}
