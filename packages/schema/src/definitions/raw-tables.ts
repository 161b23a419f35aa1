import { rawTables } from '@intake/clickhouse'
import type { Definition } from './definition.ts'

const comments: Record<keyof typeof rawTables, string> = {
  logs: 'Log events as they were inserted, with repeats and deleted rows. Query intake.logs.',
  feedback: 'Feedback as it was inserted, with repeats and deleted rows. Query intake.feedback.',
  dead_letters: 'Rows that ClickHouse rejected, with older versions. Query intake.dead_letters.',
  outcomes: 'Counts of each gateway process, with older ones. Query intake.outcomes.',
  watermark: 'Watermarks that workers have stored. Query intake.watermark.',
  hours: 'Counts of hours, with older ones. Query intake.hours and intake.device_hours.',
  days: 'What applications sent on a day, with older counts. Query intake.catalogue.',
  attachments:
    'What workers found out about the pictures of feedback, with older facts. Query intake.feedback.',
  counted: 'Every run that has counted. Query intake.counted.',
  recounts: 'Every demand to count again. Query intake.recounts.',
}

/** The tables that workers write. Only the columns of the views have comments. */
export const rawDefinitions: readonly Definition[] = Object.entries(rawTables).map(
  ([kind, { name, columns }]) => ({
    name: name.replace('intake.', ''),
    comment: comments[kind as keyof typeof rawTables],
    columns: Object.fromEntries(columns.map((column) => [column, ''])),
  }),
)
