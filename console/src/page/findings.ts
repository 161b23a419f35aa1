import { selectInTurns } from '@intake/clickhouse'
import { orderedVersion } from '@intake/schema'
import { badNames } from './bad-events.ts'
import type { CountReader } from './count-reader.ts'
import type { DriftEntry, WarningEntry } from './read-catalogue.ts'
import { cutName, inMonth, newestOf, ofApplication, type RecordReader } from './records.ts'
import { ifPermitted, type ViewParts } from './without-clickhouse.ts'

/** What a reader should look at, found by comparing counts. Names were sent by clients. */
export interface Findings {
  alerts: RaisedAlert[]
  /**
   * They were first seen in the last day, or are new or much more frequent in the newest version;
   * `before` is the number in older versions, 0 if they are new.
   */
  newErrors: (EventFinding & { version: string; before: number })[]
  /** Applications that sent events every day and have sent none for a day. */
  silent: Omit<EventFinding, 'event'>[]
  /** Events that came every day and have not for a day, although their application sends others. */
  stopped: EventFinding[]
  /** Params whose type changed in the newest version of their application. */
  drift: (Omit<DriftEntry, 'version_from' | 'change'> & OfApplication)[]
  personal: (Pick<WarningEntry, 'event' | 'path' | 'warning'> & OfApplication)[]
}

interface OfApplication {
  bundle_identifier: string
}

interface EventFinding extends OfApplication {
  event: string
  events: number
  /** Beginning of the first or last hour with such an event, in ms since 1970. */
  atMs: number
}

/** At most this many of each kind are read; the view shows one, and the others on request. */
export const findingsMax = 10
/** An event that comes less often may be absent for a day without a reason. */
const stoppedEventsMin = 70
/** An error has risen if it is so many times as frequent as in older versions, and not rare. */
const [risenTimes, risenMin] = [3, 5]
const code = 'ifNull(toString(version_code), version_name)'

/** What cannot be read is left out: a kind that costs too much hides no other kind. */
export async function readFindings(
  reader: CountReader,
  application: string | undefined,
  orElse: ViewParts['orElse'],
): Promise<Findings> {
  const where = ofApplication(application)
  const read = <Row>(order: string, sql: string): Promise<Row[]> => {
    const turns = { application: 'bundle_identifier', owner: reader.owner }
    const inTurns = selectInTurns(sql, { ...turns, order, rowsMax: findingsMax })
    const rows = reader.query<Row>(inTurns, { application, badNames })
    return orElse(rows, [])
  }
  const days = `SELECT bundle_identifier, ${cutName('event')} AS event,
      sumIf(events, hour >= now('UTC') - INTERVAL 1 DAY) AS recent, sum(events) - recent AS before,
      uniqIf(toDate(hour), hour < now('UTC') - INTERVAL 1 DAY) AS days_before,
      max(hour) AS last
    FROM ${reader.hours}
    WHERE hour >= now('UTC') - INTERVAL 8 DAY AND ${where} GROUP BY bundle_identifier, event`
  const [alerts, newErrors, silent, stopped, drift, personal] = await Promise.all([
    orElse(readRaisedAlerts(reader, application), undefined),
    read<Findings['newErrors'][number]>(
      'events DESC, bundle_identifier, event',
      `SELECT bundle_identifier, event, version, 1000 * toUnixTimestamp(first) AS atMs,
         first >= now('UTC') - INTERVAL 1 DAY AND begin < now('UTC') - INTERVAL 1 DAY AS is_first_seen,
         if(is_first_seen, 0, older) AS before, if(is_first_seen, newer + older, newer) AS events
       FROM (
         SELECT bundle_identifier, ${cutName('event')} AS event, sumIf(events, code = newest) AS newer,
           sum(events) - newer AS older, min(hour) AS first, any(begin) AS begin,
           any(of_newest) AS of_newest, any(of_others) AS of_others,
           ${newestOf('groupUniqArray((version_code, version_name))')} AS version
         FROM (
           SELECT bundle_identifier, event, hour, events, version_code, version_name, ${code} AS code
           FROM ${reader.hours} WHERE ${inMonth} AND ${where}) AS one
         INNER JOIN (
           SELECT bundle_identifier, argMax(code, place) AS newest, argMax(number, place) AS of_newest,
             sum(number) - of_newest AS of_others, min(first) AS begin
           FROM (
             SELECT bundle_identifier, ${code} AS code, ${orderedVersion('any(version_code)', 'code')} AS place,
               sum(events) AS number, min(hour) AS first
             FROM ${reader.hours} WHERE ${inMonth} AND ${where} GROUP BY bundle_identifier, code)
           GROUP BY bundle_identifier) AS versions USING (bundle_identifier)
         WHERE match(event, {badNames:String}) GROUP BY bundle_identifier, event)
       WHERE is_first_seen OR (of_others > 0 AND newer >= if(older = 0, 1, ${risenMin})
         AND newer / of_newest > ${risenTimes} * older / of_others)`,
    ),
    read<Omit<EventFinding, 'event'>>(
      'events DESC, bundle_identifier',
      `SELECT bundle_identifier, sum(before) AS events, 1000 * toUnixTimestamp(max(last)) AS atMs
       FROM (${days}) GROUP BY bundle_identifier
       HAVING sum(recent) = 0 AND events >= ${stoppedEventsMin} AND max(days_before) >= 3`,
    ),
    read<EventFinding>(
      'events DESC, bundle_identifier, event',
      `SELECT bundle_identifier, event, before AS events, 1000 * toUnixTimestamp(last) AS atMs
       FROM (${days})
       WHERE recent = 0 AND event != '' AND before >= ${stoppedEventsMin} AND days_before >= 3
         AND bundle_identifier IN (SELECT bundle_identifier FROM (${days}) WHERE recent > 0)`,
    ),
    read<Findings['drift'][number]>(
      'bundle_identifier, event, param',
      `SELECT bundle_identifier, event, ${cutName('param')} AS param,
         if(names.name = '', ${cutName('drift.version_to')}, names.name) AS version_to, before, after
       FROM intake.drift AS drift LEFT JOIN (
         SELECT bundle_identifier, toString(version_code) AS version_to,
           ${cutName('argMax(version_name, catalogue.last_seen)')} AS name
         FROM intake.catalogue AS catalogue WHERE param = '' AND version_code IS NOT NULL AND ${where}
         GROUP BY bundle_identifier, version_to) AS names USING (bundle_identifier, version_to)
       WHERE versions_ago = 0 AND change = 'type' AND ${where}`,
    ),
    read<Findings['personal'][number]>(
      'number DESC, bundle_identifier, event, path',
      `SELECT bundle_identifier, event, ${cutName('path')} AS path, warning,
         sum(warnings.records) AS number
       FROM intake.warnings AS warnings WHERE warning IN ('email', 'card') AND ${where}
       GROUP BY bundle_identifier, event, path, warning`,
    ),
  ])
  return { alerts: alerts ?? [], newErrors, silent, stopped, drift, personal }
}

/** An alert on events (docs/alerts.md) that is not ok. */
export interface RaisedAlert extends OfApplication {
  /** Empty: crashes with a new stack trace. */
  event: string
  state: 'firing' | 'unknown'
  value: number | null
  sinceMs: number
}

/** The alerts that fire, then those that are unknown, the latest first. */
const readRaisedAlerts = (reader: RecordReader, application: string | undefined) =>
  ifPermitted(
    reader.query<RaisedAlert>(
      `SELECT bundle_identifier, event, state, value, 1000 * toUnixTimestamp(since) AS sinceMs
       FROM intake.alert_states AS states
       WHERE state != 'ok' AND ${ofApplication(application)}
       ORDER BY state, states.since DESC, id`,
      { application },
    ),
  )
