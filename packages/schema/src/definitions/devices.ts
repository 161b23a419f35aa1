import type { DeviceField } from '@intake/contract'
import type { Definition } from './definition.ts'
import { plainColumns, plainSelect } from './plain-device.ts'

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
 * Views that are computed from the records whenever they are read, so they are exact even after
 * redelivery and deletion. They group by application. ClickHouse can therefore apply a filter by
 * application before it groups, and uses the sorting key of the records to apply it.
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
  {
    name: 'gaps',
    comment:
      'Devices whose client numbers its events, with how many numbers never arrived. Computed from all log events of the application: filter by bundle_identifier.',
    columns: {
      ...identity,
      first_sequence: 'The lowest number that arrived.',
      last_sequence: 'The highest number that arrived.',
      missing:
        'Numbers between them that are not in the table: events on their way, given up by the client, rejected, or erased.',
    },
    select: `SELECT
  bundle_identifier,
  device_uuid,
  min(sequence) AS first_sequence,
  max(sequence) AS last_sequence,
  toUInt64(last_sequence - first_sequence) + 1 - uniqExact(sequence) AS missing
FROM (
  SELECT bundle_identifier, device_uuid, assumeNotNull(extra.log.sequence.:Int64) AS sequence
  FROM intake.logs_raw FINAL
  WHERE extra.log.sequence.:Int64 > 0
)
GROUP BY bundle_identifier, device_uuid`,
  },
  {
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
  },
]
