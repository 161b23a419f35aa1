import { badNames } from './bad-events.ts'
import type { CountReader } from './count-reader.ts'
import { readRaisedAlerts, type RaisedAlert } from './read-alerts.ts'
import { cutName, querySettings } from './records.ts'

/** What a reader should look at, found by comparing counts. Names were sent by clients. */
export interface Findings {
  /** Alerts that fire or are unknown. */
  alerts: RaisedAlert[]
  /** Names of crashes or errors that appeared in the last day, most events first. */
  newErrors: (EventFinding & { version: string })[]
  /** Events that came every day and have not for a day, although their application sends others. */
  stopped: EventFinding[]
  /** Params whose type changed in the newest version of their application. */
  drift: {
    bundle_identifier: string
    event: string
    param: string
    version_to: string
    before: string
    after: string
  }[]
  /** Params with texts that look like e-mail addresses or numbers of payment cards. */
  personal: { bundle_identifier: string; event: string; path: string; warning: string }[]
}

interface EventFinding {
  bundle_identifier: string
  event: string
  events: number
  /** Beginning of the first or last hour with such an event, in ms since 1970. */
  atMs: number
}

/** At most this many of each kind are read; the view shows one and says how many more there are. */
const findingsMax = 10
/** An event that comes less often may be absent for a day without a reason. */
const stoppedEventsMin = 70
const ofApplication = 'bundle_identifier = {application:String}'

/** @param application limits the result to one application */
export async function readFindings(
  reader: CountReader,
  application: string | undefined,
): Promise<Findings> {
  const where = application === undefined ? '1' : ofApplication
  const params = { ...(application !== undefined && { application }) }
  const read = <Row>(sql: string, more: Record<string, string> = {}) =>
    reader.query<Row>(`${sql} LIMIT ${findingsMax} ${querySettings}`, { ...params, ...more })
  const days = `SELECT bundle_identifier, ${cutName('event')} AS event,
      sumIf(events, hour >= now('UTC') - INTERVAL 1 DAY) AS recent, sum(events) - recent AS before,
      uniqIf(toDate(hour), hour < now('UTC') - INTERVAL 1 DAY) AS days_before,
      min(hour) AS first, max(hour) AS last, ${cutName('argMax(version_name, hour)')} AS version
    FROM ${reader.hours}
    WHERE hour >= now('UTC') - INTERVAL 8 DAY AND ${where} GROUP BY bundle_identifier, event`
  type Seconds = Omit<EventFinding, 'atMs'> & { at: number; version: string }
  const [alerts, newErrors, stopped, drift, personal] = await Promise.all([
    readRaisedAlerts(reader, application),
    read<Seconds>(
      `SELECT bundle_identifier, event, recent AS events, toUnixTimestamp(first) AS at, version
       FROM (${days})
       WHERE before = 0 AND match(event, {names:String}) AND bundle_identifier IN (
         SELECT bundle_identifier FROM (${days}) WHERE before > 0)
       ORDER BY events DESC, bundle_identifier, event`,
      { names: `(?i)${badNames}` },
    ),
    read<Seconds>(
      `SELECT bundle_identifier, event, before AS events, toUnixTimestamp(last) AS at, version
       FROM (${days})
       WHERE recent = 0 AND before >= ${stoppedEventsMin} AND days_before >= 3
         AND last < now('UTC') - INTERVAL 1 DAY AND bundle_identifier IN (
           SELECT bundle_identifier FROM (${days}) WHERE recent > 0)
       ORDER BY events DESC, bundle_identifier, event`,
    ),
    read<Findings['drift'][number]>(
      `SELECT bundle_identifier, event, ${cutName('param')} AS param, ${cutName('version_to')} AS version_to,
         before, after
       FROM intake.drift AS drift WHERE versions_ago = 0 AND change = 'type' AND ${where}
       ORDER BY bundle_identifier, event, param`,
    ),
    read<Findings['personal'][number]>(
      `SELECT bundle_identifier, event, ${cutName('path')} AS path, warning
       FROM intake.warnings AS warnings WHERE warning IN ('email', 'card') AND ${where}
       GROUP BY bundle_identifier, event, path, warning
       ORDER BY sum(warnings.records) DESC, bundle_identifier, event, path`,
    ),
  ])
  const inMs = ({ at, ...row }: Seconds) => ({ ...row, atMs: at * 1_000 })
  return {
    alerts,
    newErrors: newErrors.map(inMs),
    stopped: stopped.map(inMs),
    drift,
    personal,
  }
}
