import { countedName, keepKnown } from './known-names.ts'

const eventTuple =
  'Tuple(event String, version_code Nullable(Int64), version_name String, records UInt64)'
/** The rarest pairs of event and version count as an empty event, in case values are names. */
const pairsMax = 2_000
/** The versions of an hour with the fewest events are counted together, without a name. */
const versionsMax = 500

/** The result has a row for each application and hour with events, as in `intake.hours_raw`. */
export const countHours = `WITH
  counted AS (
    SELECT bundle_identifier, toStartOfHour(time) AS hour, ${countedName('logs_flat.event')} AS event, device_version_code AS version_code,
      ${countedName("ifNull(device_version_name, '')")} AS version_name, count() AS records,
      uniqCombined64State(12)(device_uuid) AS devices
    FROM intake.logs_flat
    WHERE time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime64(3, 'UTC')}
      AND bundle_identifier IN {applications:Array(String)} AND toStartOfHour(time) IN {hours:Array(DateTime('UTC'))}
    GROUP BY bundle_identifier, hour, event, version_code, version_name),
  sized AS (
    SELECT *, sum(records) OVER (PARTITION BY bundle_identifier, hour, version_code, version_name) AS of_version
    FROM counted),
  placed AS (
    SELECT *, dense_rank() OVER (
      PARTITION BY bundle_identifier, hour ORDER BY of_version DESC, version_name, version_code) <= ${versionsMax} AS is_kept
    FROM sized),
  by_version AS (
    SELECT bundle_identifier, hour, event, if(is_kept, placed.version_code, NULL) AS version_code,
      if(is_kept, placed.version_name, '') AS version_name, sum(placed.records) AS records,
      uniqCombined64MergeState(12)(placed.devices) AS devices
    FROM placed GROUP BY bundle_identifier, hour, event, version_code, version_name),
  ranked AS (
    SELECT *, row_number() OVER (PARTITION BY bundle_identifier, hour ORDER BY records DESC, event) AS place FROM by_version),
  pairs AS (
    SELECT bundle_identifier, hour, if(place > ${pairsMax}, '', ranked.event) AS event, version_code, version_name,
      cityHash64(event) AS name,
      sum(ranked.records) AS records, uniqCombined64MergeState(12)(ranked.devices) AS devices
    FROM ranked GROUP BY bundle_identifier, hour, event, version_code, version_name),
  kept AS (${keepKnown({ count: 'hours', source: 'pairs', period: 'hour' })})
SELECT bundle_identifier, hour,
  groupArrayIf((event, version_code, version_name, records)::${eventTuple}, is_pair) AS event_counts,
  groupArrayIf((version_name, hex(devices))::Tuple(version_name String, state String), NOT is_pair) AS device_states,
  groupArrayArrayIf(names, NOT is_pair) AS new_names, {ver:UInt64} AS ver
FROM (
  SELECT bundle_identifier, hour, if(is_kept, kept.event, '') AS event,
    kept.version_code AS version_code, kept.version_name AS version_name,
    grouping(event) = 0 AS is_pair, sum(kept.records) AS records,
    uniqCombined64MergeState(12)(kept.devices) AS devices, groupUniqArrayIf(name, is_new) AS names
  FROM kept
  GROUP BY GROUPING SETS (
    (bundle_identifier, hour, event, version_code, version_name), (bundle_identifier, hour, version_name)))
GROUP BY bundle_identifier, hour`
