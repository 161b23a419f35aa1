import type { Definition } from './definition.ts'

/** The version of a tombstone, which is the highest possible one. */
export const tombstoneVer = '18446744073709551615'

/** Without `final = 0`, the profile of analysts would hide all deleted rows. */
const deleted = (kind: string, table: string) =>
  `SELECT '${kind}' AS kind, bundle_identifier, time, id, device_uuid, received_at AS deleted_at
  FROM intake.${table} WHERE ver = ${tombstoneVer} SETTINGS final = 0`

/** What was erased. Tombstones are many after a purge, so nothing here groups or sorts them. */
export const deletionDefinitions: readonly Definition[] = [
  {
    name: 'deletions',
    comment: 'The identities of erased records, for whoever has copies of them.',
    columns: {
      kind: 'logs or feedback.',
      bundle_identifier: 'The application.',
      time: 'Time of the record, UTC.',
      id: 'Id of the record.',
      device_uuid: 'The device.',
      deleted_at: 'When it was erased, UTC; 1970 if by a version before this column.',
    },
    select: `SELECT kind, bundle_identifier, time, id, device_uuid, deleted_at
FROM (
  ${deleted('logs', 'logs_raw')}
  UNION ALL
  ${deleted('feedback', 'feedback_raw')}
)`,
  },
]
