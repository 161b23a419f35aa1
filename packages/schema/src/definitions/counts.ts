import { limits } from '@intake/contract'
import type { ColumnComments, Definition } from './definition.ts'
import { deviceState } from './functions.ts'

const application = { bundle_identifier: 'The application.' }
const hour = { ...application, hour: 'Beginning of the hour of time, UTC.' }
const version = {
  version_code: 'device.version_code; NULL if it was not sent.',
  version_name: 'device.version_name; empty if it was not sent.',
}
const others = `beyond ${limits.monthNames.toLocaleString('en')} in a month`
const hourVersion = {
  ...version,
  version_name: 'device.version_name; empty if it was not sent, or one of the others.',
}
const event = {
  event: `Name of the event; empty: the rarest pairs of event and version, beyond 2,000 in an hour, and those ${others}.`,
}
const seen = {
  first_seen: 'Time of the first such record, UTC.',
  last_seen: 'Time of the latest such record, UTC.',
}
const recount: ColumnComments = {
  ...hour,
  asked_at:
    'From when on it is counted again, UTC: when records were erased or replayed, or a later try.',
}
const catalogueKey = {
  ...application,
  event: 'Name of the event.',
  param: 'Path of the param, with %2E for a dot in a name; empty: the event itself.',
}

/** Arrow has no other times than DateTime64. Filters prune through a cast, not a function. */
const hourColumn = "CAST(hours_raw.hour, 'DateTime64(3, ''UTC'')') AS hour"

/** Whether a day has all names. If it was cut, a name that is missing in it may have been sent. */
const isWhole = `length(entries.event) < ${limits.catalogueEntries} AND NOT has(entries.event, '')`

const numbersIn = (text: string) =>
  `arrayMap(digits -> toInt64OrZero(digits), extractAll(${text}, '[0-9]+'))`

/**
 * Returns SQL for a tuple that sorts as versions are ordered, with the text of the version at its
 * end: by its code; without one, before all others, by the numbers in its name, a pre-release such
 * as 2.0.0-beta.1 before its release.
 */
export const orderedVersion = (code: string, name: string): string => `if(isNull(${code}),
      (false, ${numbersIn(`splitByChar('-', ${name})[1]`)}, position(${name}, '-') = 0,
        ${numbersIn(name)}, ${name}),
      (true, [assumeNotNull(${code})], true, CAST([], 'Array(Int64)'), toString(assumeNotNull(${code}))))`

/**
 * The types of each event and param by version. An application with version codes is compared by
 * these alone. Entries are most of what is read, so only the necessary fields are joined, and
 * versions are ordered after grouping.
 */
const typesByVersion = `SELECT bundle_identifier, event, param,
    ${orderedVersion('version_code', 'version_name')} AS ordered,
    arrayStringConcat(arraySort(groupUniqArray(type)), ', ') AS types
  FROM intake.days_raw FINAL
  ARRAY JOIN entries.event AS event, entries.param AS param, entries.type AS type,
    entries.version_code AS version_code, entries.version_name AS name
  WHERE ${isWhole} AND if(
    bundle_identifier IN (
      SELECT bundle_identifier FROM intake.days_raw FINAL
      WHERE arrayExists(code -> isNotNull(code), entries.version_code)),
    isNotNull(version_code),
    name != '')
  GROUP BY bundle_identifier, event, param, version_code, if(isNull(version_code), name, '') AS version_name`

/**
 * The tables of counts and their views. The counts have a row per application and hour or day. A
 * row is computed anew when one of its records has changed
 * (docs/decisions/0027-counts-by-recounting.md).
 * An entry of an hour has no equal, so its views need no GROUP BY, which is dear.
 */
export const countDefinitions: readonly Definition[] = [
  {
    name: 'hours',
    comment: 'Log events per hour, application, event and version, as of intake.counted.',
    columns: { ...hour, ...event, ...hourVersion, events: 'Number of log events.' },
    select: `SELECT bundle_identifier, ${hourColumn}, entry.event AS event, entry.version_code AS version_code,
  entry.version_name AS version_name, entry.records AS events
FROM intake.hours_raw FINAL
ARRAY JOIN event_counts AS entry`,
  },
  {
    name: 'device_hours',
    comment: 'Devices with a log event, per hour, application and version, as of intake.counted.',
    columns: {
      ...hour,
      version_name: hourVersion.version_name,
      devices: 'Number of devices, ± 1.6 % above some thousands.',
      devices_state:
        'The devices as a text, to count several rows together: intake_devices(devices_state).',
    },
    select: `SELECT bundle_identifier, ${hourColumn}, pair.version_name AS version_name,
  arrayReduce('uniqCombined64Merge(12)', [${deviceState('pair.state')}]) AS devices, pair.state AS devices_state
FROM intake.hours_raw FINAL
ARRAY JOIN device_states AS pair`,
  },
  {
    name: 'catalogue',
    comment: 'The events and params that applications send, by type and version.',
    columns: {
      ...catalogueKey,
      event: `${catalogueKey.event} Empty: events and params ${others}, counted together.`,
      type: 'number, text, boolean or list; event for the event itself.',
      ...version,
      ...seen,
      records: 'Number of log events that have it.',
      devices: 'The most devices that sent it on one day; ± 1.6 % above some thousands.',
    },
    select: `SELECT bundle_identifier, entry.event AS event, entry.param AS param, entry.type AS type,
  entry.version_code AS version_code, entry.version_name AS version_name,
  min(entry.first_seen) AS first_seen, max(entry.last_seen) AS last_seen,
  sum(entry.records) AS records, max(entry.devices) AS devices
FROM intake.days_raw FINAL
ARRAY JOIN entries AS entry
GROUP BY bundle_identifier, event, param, type, version_code, version_name`,
  },
  {
    name: 'drift',
    comment:
      'What changed in the events and params of an application from one version to the next.',
    columns: {
      ...application,
      version_from:
        'The version before: device.version_code; device.version_name if the application sends no codes.',
      version_to: 'The next version that sent an event.',
      versions_ago: 'How many versions version_to is before the newest; 0: it is the newest.',
      event: catalogueKey.event,
      param: catalogueKey.param,
      change: 'new, gone, or type: sent with another type.',
      before: 'Types in version_from; empty if new.',
      after: 'Types in version_to; empty if gone.',
    },
    // A name that is used twice in WITH is computed twice, so each is used once. The cost grows with
    // the number of entries, not with versions times names, of which a sender can invent many.
    // Versions are numbered, because an array that is joined is copied for each of its rows.
    select: `WITH
  by_version AS (${typesByVersion}),
  by_application AS (
    SELECT bundle_identifier, arraySort(one -> one.1, groupArray((ordered, event, param, types))) AS entries,
      arrayEnumerateDense(arrayMap(one -> one.1.5, entries)) AS numbers, arrayMax(numbers) AS newest
    FROM by_version GROUP BY bundle_identifier),
  sides AS (
    SELECT bundle_identifier, newest, number + arrayJoin([0, 1]) AS place, place = number AS is_after,
      entry.1.5 AS version, entry.2 AS one_event, entry.3 AS one_param, entry.4 AS types
    FROM by_application ARRAY JOIN entries AS entry, numbers AS number),
  pairs AS (
    SELECT bundle_identifier, newest, place, anyIf(version, NOT is_after) AS version_from,
      anyIf(version, is_after) AS version_to, groupArray((one_event, one_param, is_after, types)) AS names
    FROM sides WHERE place BETWEEN 2 AND newest GROUP BY bundle_identifier, newest, place),
  changes AS (
    SELECT bundle_identifier, newest, place, version_from, version_to, name.1 AS one_event, name.2 AS one_param,
      anyIf(name.4, NOT name.3) AS one_before, anyIf(name.4, name.3) AS one_after
    FROM pairs ARRAY JOIN names AS name
    GROUP BY bundle_identifier, newest, place, version_from, version_to, one_event, one_param),
  by_event AS (
    SELECT bundle_identifier, newest, place, version_from, version_to, one_event,
      max(one_param = '' AND one_before != '' AND one_after != '') AS is_in_both,
      groupArrayIf((one_param, one_before, one_after), one_before != one_after) AS names
    FROM changes GROUP BY bundle_identifier, newest, place, version_from, version_to, one_event)
SELECT bundle_identifier, version_from, version_to, newest - place AS versions_ago,
  one_event AS event, name.1 AS param, multiIf(before = '', 'new', after = '', 'gone', 'type') AS change,
  name.2 AS before, name.3 AS after
FROM by_event
ARRAY JOIN names AS name
WHERE param = '' OR is_in_both`,
  },
  {
    name: 'warnings',
    comment: 'What was accepted but stored otherwise than it was meant, without any values.',
    columns: {
      ...application,
      warning:
        'timestamp_not_read, device_date_not_read, array_as_text, clock_skew, near_id_window, several_types, email, card, or catalogue_cut: the day has more names than are counted.',
      event: 'Name of the event.',
      path: 'Path of the field or param, with %2E for a dot in a name; empty: it concerns the record.',
      version_name: version.version_name,
      ...seen,
      records: 'Number of log events.',
      example: 'Id of one of them; zeros for several_types and catalogue_cut.',
    },
    select: `SELECT bundle_identifier, warning, event, path, version_name,
  min(first) AS first_seen, max(last) AS last_seen, sum(number) AS records, any(one) AS example
FROM (
  SELECT bundle_identifier, entry.warning AS warning, entry.event AS event, entry.path AS path,
    entry.version_name AS version_name, entry.first_seen AS first, entry.last_seen AS last,
    entry.records AS number, entry.example AS one
  FROM intake.days_raw FINAL
  ARRAY JOIN warnings AS entry
  UNION ALL
  SELECT bundle_identifier, 'several_types', entry.event AS event, entry.param AS path, entry.version_name AS version_name,
    min(entry.first_seen), max(entry.last_seen), sum(entry.records), toUUID('00000000-0000-0000-0000-000000000000')
  FROM intake.days_raw FINAL
  ARRAY JOIN entries AS entry
  GROUP BY bundle_identifier, event, path, version_name
  HAVING uniqExact(entry.type) > 1
  UNION ALL
  SELECT bundle_identifier, 'catalogue_cut', '', '', '', toDateTime64(day, 3, 'UTC'), toDateTime64(day, 3, 'UTC'),
    0, toUUID('00000000-0000-0000-0000-000000000000')
  FROM intake.days_raw FINAL
  WHERE NOT (${isWhole})
)
GROUP BY bundle_identifier, warning, event, path, version_name`,
  },
  {
    name: 'counted_names',
    comment: 'Names that are counted apart in the month in which they were first counted.',
    columns: {
      counts: 'hours or catalogue.',
      ...application,
      period: 'The hour or day that lists the name, UTC.',
      name: 'Hash of a pair of event and version, or of an entry of the catalogue.',
    },
    select: `SELECT 'hours' AS counts, bundle_identifier, hours_raw.hour AS period, name
FROM intake.hours_raw FINAL
ARRAY JOIN new_names AS name
GROUP BY bundle_identifier, period, name
UNION ALL
SELECT 'catalogue' AS counts, bundle_identifier, toDateTime(days_raw.day, 'UTC') AS period, name
FROM intake.days_raw FINAL
ARRAY JOIN new_names AS name
GROUP BY bundle_identifier, period, name`,
  },
  {
    name: 'counted',
    comment: 'Up to when hours and catalogue have been counted.',
    columns: {
      name: 'hours or catalogue.',
      counted_until: 'Everything that arrived before it is counted. UTC.',
      counted_at: 'When it was counted, UTC.',
    },
    select: `SELECT name, argMax(counted_raw.counted_until, counted_raw.counted_at) AS counted_until,
  max(counted_raw.counted_at) AS counted_at
FROM intake.counted_raw
GROUP BY name`,
  },
  {
    name: 'recounts',
    comment:
      'Hours that are counted again: records in them were erased or replayed, or they could not be counted.',
    columns: recount,
    select: `SELECT bundle_identifier, hour, max(recounts_raw.asked_at) AS asked_at
FROM intake.recounts_raw
GROUP BY bundle_identifier, hour`,
  },
]
