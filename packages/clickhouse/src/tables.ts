const head = [
  'id',
  'time',
  'received_at',
  'bundle_identifier',
  'device_uuid',
  'unique_user_id',
  'api_key_id',
  'request_id',
  'country',
  'device',
  'device_extra',
  'client_timestamp',
  'extra',
] as const

/**
 * The raw tables that services write, by their name in the code, with the columns of a row;
 * undefined: all of the table.
 */
export const rawTables = {
  logs: { name: 'intake.logs_raw', columns: [...head, 'event', 'params', 'sample_rate'] },
  feedback: {
    name: 'intake.feedback_raw',
    columns: [...head, 'feedback_id', 'email', 'text', 'attachments'],
  },
  dead_letters: {
    name: 'intake.dead_letters_raw',
    columns: [
      'table',
      'bundle_identifier',
      'time',
      'id',
      'device_uuid',
      'failed_at',
      'error_code',
      'error',
      'row',
      'ver',
      'is_deleted',
    ],
  },
  outcomes: {
    name: 'intake.outcomes_raw',
    columns: ['minute', 'api_key_id', 'kind', 'code', 'run', 'records', 'rule'],
  },
  watermark: { name: 'intake.watermark_raw', columns: ['kind', 'visible_until'] },
  hours: {
    name: 'intake.hours_raw',
    columns: ['bundle_identifier', 'hour', 'event_counts', 'device_states', 'new_names', 'ver'],
  },
  days: {
    name: 'intake.days_raw',
    columns: ['bundle_identifier', 'day', 'entries', 'warnings', 'new_names', 'ver'],
  },
  attachments: {
    name: 'intake.attachments_raw',
    columns: ['bundle_identifier', 'time', 'id', 'device_uuid', 'facts'],
  },
  alerts: { name: 'intake.alerts_raw', columns: undefined },
  counted: { name: 'intake.counted_raw', columns: ['name', 'counted_until', 'counted_at'] },
  journal: { name: 'intake.journal', columns: undefined },
  recounts: { name: 'intake.recounts_raw', columns: ['bundle_identifier', 'hour', 'asked_at'] },
} as const

export type RawTable = keyof typeof rawTables

export type RecordTable = Extract<RawTable, 'logs' | 'feedback'>
