import { importKeyId, limits, momentDeviceFields } from '@intake/contract'
import { countedName, keepKnown } from './known-names.ts'
import { textWarnings } from './text-warnings.ts'

const period = `time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime64(3, 'UTC')}
      AND bundle_identifier IN {applications:Array(String)}`

const entryTuple =
  "Tuple(event String, param String, type String, version_code Nullable(Int64), version_name String, first_seen DateTime64(3, 'UTC'), last_seen DateTime64(3, 'UTC'), records UInt64, devices UInt64)"
const warningTuple =
  "Tuple(warning String, event String, path String, version_name String, first_seen DateTime64(3, 'UTC'), last_seen DateTime64(3, 'UTC'), records UInt64, example UUID)"

const warningsMax = 1_000
const day = "toDate({from:DateTime64(3, 'UTC')})"

/** Integers and doubles have one type: a client may send 1 and 1.5 as the same param. */
const typeOf = `multiIf(
  startsWith(path.2, 'Array'), 'list',
  path.2 IN ('Int64', 'UInt64', 'Float64'), 'number',
  path.2 = 'Bool', 'boolean',
  'text')`

/** SQL for pairs of a name and a type. The first, `('', 'event')`, is the event itself. */
const paths = `arrayPushFront(
      arrayMap((name, type) -> (${countedName('name')}, type),
        mapKeys(JSONAllPathsWithTypes(params)), mapValues(JSONAllPathsWithTypes(params))),
      ('', 'event'))`

/** The clock of a device is wrong if an event is later than its arrival by more than this. */
const aheadMs = 60_000
/**
 * Older events get a warning, because those that are a few days older are refused; an import has no
 * window.
 */
const nearWindowDays = 25

const milliseconds = (ms: number) => `toIntervalMillisecond(${ms})`

/** SQL for the warnings about a log event: tuples of code and path. */
const recordWarnings = (hasAllValues: boolean) => `arrayConcat(
      if(isNotNull(extra.log.timestamp), [('timestamp_not_read', 'log.timestamp')], []),
      arrayMap(name -> ('device_date_not_read', name),
        arrayIntersect(JSONAllPaths(device_extra), [${momentDeviceFields.map(({ name }) => `'${name}'`).join(', ')}])),
      if(time > received_at + ${milliseconds(aheadMs)}
        OR ifNull(client_timestamp > received_at + ${milliseconds(limits.eventAheadMs)}, false)
        OR ifNull(client_timestamp < received_at - ${milliseconds(limits.eventAgeMs)}, false),
        [('clock_skew', '')], []),
      if(time < received_at - toIntervalDay(${nearWindowDays}) AND api_key_id != '${importKeyId}',
        [('near_id_window', '')], []),
      ${textWarnings(hasAllValues)})`

/** The result has a row for each application with events, as in `intake.days_raw`. */
export const countDays = (hasAllValues: boolean) => `WITH
  entries AS (
    SELECT bundle_identifier, ${countedName('logs.event')} AS event, path.1 AS param, if(path.1 = '', 'event', ${typeOf}) AS type,
      device.version_code AS version_code, ${countedName("ifNull(device.version_name, '')")} AS version_name,
      cityHash64(event, param, type) AS name,
      min(time) AS first_seen, max(time) AS last_seen, count() AS records, uniqCombined64(device_uuid) AS devices
    FROM intake.logs
    ARRAY JOIN ${paths} AS path
    WHERE ${period}
    GROUP BY bundle_identifier, event, param, type, version_code, version_name
    ORDER BY records DESC LIMIT ${limits.catalogueEntries} BY bundle_identifier),
  warnings AS (
    SELECT bundle_identifier, found.1 AS warning, ${countedName('logs.event')} AS event, ${countedName('found.2')} AS path,
      ${countedName("ifNull(device.version_name, '')")} AS version_name,
      min(time) AS first_seen, max(time) AS last_seen, count() AS records, any(id) AS example
    FROM intake.logs
    ARRAY JOIN ${recordWarnings(hasAllValues)} AS found
    WHERE ${period}
    GROUP BY bundle_identifier, warning, event, path, version_name
    ORDER BY records DESC LIMIT ${warningsMax} BY bundle_identifier),
  kept_entries AS (${keepKnown({ count: 'catalogue', source: 'entries', period: day })})
SELECT bundle_identifier, ${day} AS day, all_entries.list AS entries, all_warnings.list AS warnings,
  all_entries.names AS new_names, {ver:UInt64} AS ver
FROM (
  SELECT bundle_identifier, groupArray(
    (event, param, type, version_code, version_name, first_seen, last_seen, records, devices)::${entryTuple}) AS list,
    groupArrayArray(new_names) AS names
  FROM (
    SELECT bundle_identifier, if(is_kept, kept.event, '') AS event, if(is_kept, kept.param, '') AS param,
      if(is_kept, kept.type, 'event') AS type, kept.version_code AS version_code,
      kept.version_name AS version_name, min(kept.first_seen) AS first_seen,
      max(kept.last_seen) AS last_seen, sumIf(kept.records, is_kept OR kept.param = '') AS records,
      max(kept.devices) AS devices, groupUniqArrayIf(name, is_new) AS new_names
    FROM kept_entries AS kept GROUP BY bundle_identifier, event, param, type, version_code, version_name)
  GROUP BY bundle_identifier) AS all_entries
LEFT JOIN (
  SELECT bundle_identifier, groupArray(
    (warning, event, path, version_name, first_seen, last_seen, records, example)::${warningTuple}) AS list
  FROM warnings GROUP BY bundle_identifier) AS all_warnings USING (bundle_identifier)`
