import type { Definition } from './definition.ts'

export const otherDefinitions: readonly Definition[] = [
  {
    name: 'dead_letters',
    comment: 'Rows that ClickHouse rejected, until an operator replays or drops them.',
    columns: {
      table: 'The table that the row was meant for: logs or feedback.',
      bundle_identifier: 'The application; empty if it cannot be read.',
      time: 'Time of the record, UTC; 1970 if it cannot be read.',
      id: 'Id of the record; derived from the bytes of the row if it cannot be read.',
      device_uuid: 'The device; zeros if it cannot be read.',
      failed_at: 'When ClickHouse rejected the row, UTC.',
      error_code: 'Error code of ClickHouse.',
      error: 'Message of ClickHouse. It quotes the row.',
      row: 'The row as one line of JSON.',
    },
  },
  {
    name: 'erasures',
    comment: 'The erasures that were begun, as proof.',
    columns: {
      id: 'Id of the erasure.',
      kind: 'user, device, api-key, repeats (intake erasures apply) or retention.',
      subject_sha256:
        'HMAC-SHA256 of kind, application and identifier, with a secret that is not in ClickHouse; empty: none is named.',
      started_at: 'When it began, UTC.',
      finished_at: 'When it ended, UTC; NULL: it was interrupted, run it again.',
      report: 'What was erased, as JSON.',
      ver: 'Of rows with the same id, the one with the highest ver counts.',
    },
  },
  {
    name: 'retention',
    comment: 'How long records are kept.',
    columns: {
      kind: 'logs, feedback, dead-letters or counts.',
      days: 'Days of time that are kept; 0: all.',
      set_at: 'When it was set, UTC. The latest row of a kind counts.',
    },
  },
  {
    name: 'application_retention',
    comment: 'How long records of single applications are kept, if shorter than all others.',
    columns: {
      kind: 'logs or feedback.',
      bundle_identifier: 'The application.',
      days: 'Days of time that are kept; 0: as in retention.',
      set_at: 'When it was set, UTC. The latest row of a kind and application counts.',
    },
  },
  {
    name: 'journal',
    comment: 'What operators have changed with the commands of intake, and when.',
    columns: {
      id: 'Id of the entry.',
      at: 'When it was changed, UTC.',
      who: 'Who changed it: user and machine, or what --by said.',
      action: 'What was done, such as key-created; intake journal --help lists all.',
      subject: 'Id of what was changed; a hash for a user or device.',
      detail: 'What was changed, as JSON.',
    },
  },
  {
    name: 'analysts',
    comment: 'The analysts of some applications (intake analysts), with older definitions.',
    columns: {
      name: 'Name; user and database have intake_ before it.',
      bundles: 'The applications, or beginnings such as com.example.*.',
      without: 'Columns that are left out.',
      pseudonyms: 'Columns that are replaced by a keyed hash.',
      password_sha256: 'SHA-256 of the password.',
      is_removed: '1: the analyst was removed.',
      set_at: 'When it was defined, UTC. The latest row of a name counts.',
    },
  },
  {
    name: 'pseudonym_key',
    comment: 'The key of the hashes that analysts see instead of values. The first counts.',
    columns: { secret: 'The key.', created_at: 'When it was made, UTC.' },
  },
  {
    name: 'installation',
    comment:
      'The mark that Redis and ClickHouse share, so that a Redis without its data is detected.',
    columns: { id: 'The mark.', created_at: 'When it was made, UTC.' },
  },
  {
    name: 'schema_migrations',
    comment: 'The migrations and definitions that were applied.',
    columns: {
      name: 'Name of the migration.',
      checksum: 'SHA-256 of its statements.',
      applied_at: 'When it was applied, UTC.',
    },
  },
]
