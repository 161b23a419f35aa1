import { sqlTime } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { inWindow, windowParams, type TimeWindow } from './period.ts'
import { cutName, ofApplication, type RecordReader } from './records.ts'

/** Sessions of one version, as in `intake.sessions`: a session ends with a pause of 30 minutes. */
export interface VersionSessions {
  version: string
  sessions: number
  crashFree: number
}

/** The devices that were new in a week, and how many of them came back in each week after it. */
export interface WeekDevices {
  /** The Monday, `YYYY-MM-DD`. */
  week: string
  /** The first number is that of the week itself: all of them. */
  devices: number[]
}

export const weeksMax = 5
/** Reading more events than this would take too long for a view. */
const usageSettings = 'SETTINGS max_rows_to_read = 20000000'
/** A device is new if it sent nothing for at least this long. */
const unseenMs = 28 * dayMs

/** A session has the version of its first event. There are no stored counts of sessions. */
export const readSessions = (reader: RecordReader, window: TimeWindow, application: string) =>
  reader.query<VersionSessions>(
    `SELECT ${cutName('session[1].2')} AS version, count() AS sessions,
       countIf(NOT arrayExists(event -> event.3, session)) AS crashFree
     FROM (
       SELECT arraySort(groupArray((time, ifNull(device_version_name, ''), event = 'crash'))) AS events,
         arraySplit((event, previous) -> event.1 > previous.1 + INTERVAL 30 MINUTE,
           events, arrayPushFront(arrayPopBack(events), events[1])) AS split
       FROM intake.logs_flat WHERE ${inWindow('time')} AND ${ofApplication(application)} GROUP BY device_uuid)
     ARRAY JOIN split AS session
     GROUP BY version ORDER BY sessions DESC, version LIMIT 8 ${usageSettings}`,
    { ...windowParams(window), application },
  )

export function readWeeks(reader: RecordReader, application: string, nowMs: number) {
  const since = nowMs - weeksMax * 7 * dayMs
  return reader.query<WeekDevices>(
    `SELECT toString(first) AS week,
       arrayMap(later -> toUInt32(countEqual(groupArrayArray(arrayMap(one -> intDiv(one - first, 7), weeks)), later)), range(${weeksMax})) AS devices
     FROM (
       SELECT groupUniqArray(toMonday(time)) AS weeks, arrayMin(weeks) AS first
       FROM intake.logs WHERE ${inWindow('time')} AND ${ofApplication(application)} GROUP BY device_uuid)
     WHERE first > toMonday({since:DateTime64(3, 'UTC')})
     GROUP BY first ORDER BY first ${usageSettings}`,
    {
      ...windowParams({ from: since - unseenMs, to: nowMs + dayMs }),
      since: sqlTime(new Date(since)),
      application,
    },
  )
}

/** A crash of an application, by the fingerprint of its stack trace. */
export interface Crash {
  /** The first line of the stack trace of the latest one. */
  title: string
  example_id: string
  first_version: string
  last_version: string
  devices: number
  events: number
  /** In ms since 1970. */
  newSinceMs: number
}

const crashesMax = 5

export function readCrashes(
  reader: RecordReader,
  { from }: Pick<TimeWindow, 'from'>,
  application: string,
): Promise<Crash[]> {
  return reader.query<Crash>(
    `SELECT ${cutName("splitByChar('\\n', example)[1]")} AS title, example_id, ${cutName('first_version')} AS first_version,
       ${cutName('last_version')} AS last_version, devices, events,
       1000 * toUnixTimestamp(new_since) AS newSinceMs
     FROM intake.crashes AS crashes
     WHERE bundle_identifier = {application:String} AND last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
     ORDER BY devices DESC, fingerprint LIMIT ${crashesMax} ${usageSettings}`,
    { application, from },
  )
}
