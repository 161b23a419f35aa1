import type { ColumnComments, Definition } from './definition.ts'
import { deviceCount } from './functions.ts'

const application = { bundle_identifier: 'The application.' }
const hour = { ...application, hour: 'Beginning of the hour of time, UTC.' }
const version = {
  version_code: 'device.version_code; NULL if it was not sent.',
  version_name: 'device.version_name; empty if it was not sent.',
}
const hourVersion = {
  ...version,
  version_name:
    'device.version_name; empty if it was not sent, or one of the rarest, beyond the 500 of an hour.',
}
const event = {
  event:
    'Name of the event; empty: the rarest pairs of event and version, beyond 2,000 in an hour.',
}
const seen = {
  first_seen: 'Time of the first such record, UTC.',
  last_seen: 'Time of the latest such record, UTC.',
}
const recount: ColumnComments = {
  ...hour,
  asked_at: 'When records of this hour were last erased or replayed, UTC.',
}
const catalogueKey = {
  ...application,
  event: 'Name of the event.',
  param: 'Path of the param, with %2E for a dot in a name; empty: the event itself.',
}

/**
 * The time types of views are DateTime64: Arrow has no other times, so tools would show a number.
 * Filters prune through this cast, but not through `toDateTime64`.
 */
const hourColumn = "CAST(hours_raw.hour, 'DateTime64(3, ''UTC'')') AS hour"

/** For each version: the events and params that the catalogue has, and the types of each param. */
const typesByVersion = `SELECT bundle_identifier, entry.event AS event, entry.param AS param,
    assumeNotNull(entry.version_code) AS version_code,
    arrayStringConcat(arraySort(groupUniqArray(entry.type)), ', ') AS types
  FROM intake.days_raw FINAL
  ARRAY JOIN entries AS entry
  WHERE entry.version_code IS NOT NULL
  GROUP BY bundle_identifier, event, param, version_code`

/**
 * The tables of counts and their views. The counts have a row per application and hour or day. A
 * row is computed anew when one of its records has changed
 * (docs/decisions/0027-counts-by-recounting.md).
 *
 * In a cluster, every server has all rows of these tables. A view without GROUP BY (see
 * `isRowView`) is read on every shard, and would show each row once per shard. Therefore every view
 * here has GROUP BY.
 */
export const countDefinitions: readonly Definition[] = [
  {
    name: 'hours',
    comment: 'Log events per hour, application, event and version, as of intake.counted.',
    columns: { ...hour, ...event, ...hourVersion, events: 'Number of log events.' },
    select: `SELECT bundle_identifier, ${hourColumn}, entry.event AS event, entry.version_code AS version_code,
  entry.version_name AS version_name, sum(entry.records) AS events
FROM intake.hours_raw FINAL
ARRAY JOIN event_counts AS entry
GROUP BY bundle_identifier, hour, event, version_code, version_name`,
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
  ${deviceCount('pair.state')} AS devices, any(pair.state) AS devices_state
FROM intake.hours_raw FINAL
ARRAY JOIN device_states AS pair
GROUP BY bundle_identifier, hour, version_name`,
  },
  {
    name: 'catalogue',
    comment: 'The events and params that applications send, by type and version.',
    columns: {
      ...catalogueKey,
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
      version_from: 'device.version_code of the version before.',
      version_to: 'The next device.version_code that sent an event.',
      event: catalogueKey.event,
      param: catalogueKey.param,
      change: 'new, gone, or type: sent with another type.',
      before: 'Types in version_from; empty if new.',
      after: 'Types in version_to; empty if gone.',
    },
    select: `WITH
  by_version AS (${typesByVersion}),
  by_name AS (
    SELECT bundle_identifier, event, param, groupArray(version_code) AS codes, groupArray(types) AS types
    FROM by_version GROUP BY bundle_identifier, event, param),
  pairs AS (
    SELECT bundle_identifier, pair.1 AS version_from, pair.2 AS version_to
    FROM (
      SELECT bundle_identifier, arraySort(groupUniqArray(version_code)) AS all_codes
      FROM by_version GROUP BY bundle_identifier)
    ARRAY JOIN arrayZip(arrayPopBack(all_codes), arrayPopFront(all_codes)) AS pair),
  events AS (SELECT bundle_identifier, event, codes AS event_codes FROM by_name WHERE param = '')
SELECT bundle_identifier, version_from, version_to, event, param,
  multiIf(before = '', 'new', after = '', 'gone', 'type') AS change,
  types[indexOf(codes, version_from)] AS before, types[indexOf(codes, version_to)] AS after
FROM by_name
INNER JOIN pairs USING (bundle_identifier)
INNER JOIN events USING (bundle_identifier, event)
WHERE before != after AND (param = '' OR (has(event_codes, version_from) AND has(event_codes, version_to)))`,
  },
  {
    name: 'warnings',
    comment: 'What was accepted but stored otherwise than it was meant, without any values.',
    columns: {
      ...application,
      warning:
        'timestamp_not_read, device_date_not_read, array_as_text, clock_skew, near_id_window, several_types, email or card.',
      event: 'Name of the event.',
      path: 'Path of the field or param, with %2E for a dot in a name; empty: it concerns the record.',
      version_name: version.version_name,
      ...seen,
      records: 'Number of log events.',
      example: 'Id of one of them; zeros for several_types.',
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
)
GROUP BY bundle_identifier, warning, event, path, version_name`,
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
    comment: 'Hours that are counted again because records in them were erased or replayed.',
    columns: recount,
    select: `SELECT bundle_identifier, hour, max(recounts_raw.asked_at) AS asked_at
FROM intake.recounts_raw
GROUP BY bundle_identifier, hour`,
  },
  {
    name: 'recounts_raw',
    comment: 'Every demand to count again. Query intake.recounts.',
    columns: recount,
  },
]
