import type { DeviceField } from '@intake/contract'
import type { Definition } from './definition.ts'
import { plainColumns, plainSelect } from './plain-device.ts'

/** The application is empty if the rule is for all, or the journal does not have it. */
const rulesSince = `SELECT api_key_id, JSONExtractString(any(added.detail), 'match', 'bundle') AS bundle,
    toDateTime64(min(minute), 3, 'UTC') AS since
  FROM intake.outcomes_raw AS outcome FINAL
  LEFT JOIN (
    SELECT subject, any(journal.detail) AS detail FROM intake.journal
    WHERE action = 'rule-added' GROUP BY subject
  ) AS added ON outcome.rule = added.subject
  WHERE kind = 'logs' AND code IN ('dropped', 'sampled')
  GROUP BY api_key_id, outcome.rule`

/** The part of the view `gaps` that finds out since when rules leave out events. */
export const rulesOfGaps = `(
  SELECT groupArray((api_key_id, bundle, since)) FROM (${rulesSince})
) AS ruled`

/** The same without rules, for users who may not read outcomes and journal. */
export const noRules = `CAST([], 'Array(Tuple(String, String, DateTime64(3, ''UTC'')))') AS ruled`

const devices = `SELECT
  bundle_identifier,
  device_uuid,
  argMax(unique_user_id, (time, id)) AS unique_user_id,
  argMax(device, (time, id)) AS device,
  min(time) AS first_seen,
  max(time) AS last_seen
FROM (
  SELECT bundle_identifier, device_uuid, unique_user_id, device, time, id
  FROM intake.logs_raw FINAL
  UNION ALL
  SELECT bundle_identifier, device_uuid, unique_user_id, device, time, id
  FROM intake.feedback_raw FINAL
)
GROUP BY bundle_identifier, device_uuid`

const identity = {
  bundle_identifier: 'The application.',
  device_uuid: 'The device, as the client identifies it.',
}
const user = { unique_user_id: 'The user in its latest record, by time.' }
const seen = {
  first_seen: 'Time of its first record, UTC.',
  last_seen: 'Time of its latest record, UTC.',
}

/**
 * The numbers of a device are a bitmap of 32 bits: a device that sends millions, or invents them,
 * would otherwise need more memory than a query of `analyst` may use.
 */
const sequenceMax = 2 ** 32 - 1

const gaps: Definition = {
  name: 'gaps',
  comment:
    'Devices whose client numbers its events, with how many numbers never arrived. Computed from all log events of the application: filter by bundle_identifier.',
  columns: {
    ...identity,
    first_sequence: `The lowest number that arrived, from 1 to ${sequenceMax.toLocaleString('en')}; others are ignored.`,
    last_sequence: 'The highest number that arrived.',
    missing:
      'Numbers between them, up to rules_since, that are not in the table: events on their way, given up by the client, rejected, or erased.',
    missing_under_rules:
      'Numbers after those, up to the highest, that are not in the table: left out by a rule, or missing for such a reason.',
    rules_since:
      'Minute in which a rule first left out log events that this application and a key of this device may have sent, UTC; NULL: no rule has.',
  },
  select: `WITH ${rulesOfGaps}
SELECT
  bundle_identifier,
  device_uuid,
  min(sequence) AS first_sequence,
  max(sequence) AS last_sequence,
  if(count() = countIf(is_ruled), 0,
    toUInt64(maxIf(sequence, NOT is_ruled) - first_sequence) + 1
      - bitmapCardinality(bitmapSubsetInRange(
        groupBitmapState(toUInt32(sequence)), toUInt64(0), toUInt64(maxIf(sequence, NOT is_ruled)) + 1))) AS missing,
  toUInt64(last_sequence - first_sequence) + 1 - groupBitmap(toUInt32(sequence)) - missing AS missing_under_rules,
  min(since) AS rules_since
FROM (
  SELECT bundle_identifier, device_uuid,
    assumeNotNull(extra.log.sequence.:Int64) AS sequence,
    arrayReduce('minOrNull', arrayMap(one -> one.3, arrayFilter(
      one -> one.1 = api_key_id AND one.2 IN ('', bundle_identifier), ruled))) AS since,
    ifNull(received_at >= since, false) AS is_ruled
  FROM intake.logs_raw FINAL
  WHERE extra.log.sequence.:Int64 BETWEEN 1 AND ${sequenceMax}
)
GROUP BY bundle_identifier, device_uuid`,
}

const sessions: Definition = {
  name: 'sessions',
  comment:
    'Log events of a device without a pause of more than 30 minutes. Computed from all log events of the application: filter by bundle_identifier.',
  columns: {
    ...identity,
    started_at: 'Time of the first event, UTC.',
    ended_at: 'Time of the last event, UTC.',
    events: 'Number of events.',
  },
  select: `SELECT
  bundle_identifier,
  device_uuid,
  session[1] AS started_at,
  session[-1] AS ended_at,
  length(session) AS events
FROM (
  SELECT
    bundle_identifier,
    device_uuid,
    arraySort(groupArray(time)) AS times,
    arraySplit(
      (at, previous) -> at > previous + INTERVAL 30 MINUTE,
      times,
      arrayPushFront(arrayPopBack(times), times[1])) AS sessions
  FROM intake.logs_raw FINAL
  GROUP BY bundle_identifier, device_uuid
)
ARRAY JOIN sessions AS session`,
}

/**
 * Exact after redelivery and deletion, because they are computed whenever they are read. They group
 * by application, so that ClickHouse filters before it groups.
 */
export const deviceDefinitions = (fields: readonly DeviceField[]): Definition[] => [
  {
    name: 'devices',
    comment:
      'Devices that sent a record. Computed from all records of the application: filter by bundle_identifier.',
    columns: {
      ...identity,
      ...user,
      device: 'Properties of the device in its latest record, by time.',
      ...seen,
    },
    select: devices,
  },
  {
    name: 'devices_flat',
    comment:
      'Devices for tools that cannot read tuples: a plain column for each property. Filter by bundle_identifier.',
    columns: { ...identity, ...user, ...plainColumns(fields), ...seen },
    select: `SELECT bundle_identifier, device_uuid, unique_user_id, ${plainSelect(fields)}, first_seen, last_seen
FROM (${devices})`,
  },
  gaps,
  sessions,
]
