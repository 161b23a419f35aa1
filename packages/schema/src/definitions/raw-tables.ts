import { rawTables, type RawTable } from '@intake/clickhouse'
import type { Definition } from './definition.ts'

type TableBehindView = Exclude<RawTable, 'journal'>

const comments: Record<TableBehindView, string> = {
  logs: 'Log events as they were inserted, with repeats and deleted rows. Query intake.logs.',
  feedback: 'Feedback as it was inserted, with repeats and deleted rows. Query intake.feedback.',
  dead_letters: 'Rows that ClickHouse rejected, with older versions. Query intake.dead_letters.',
  outcomes: 'Counts of each gateway process, with older ones. Query intake.outcomes.',
  watermark: 'Watermarks that workers have stored. Query intake.watermark.',
  hours: 'Counts of hours, with older ones. Query intake.hours and intake.device_hours.',
  days: 'What applications sent on a day, with older counts. Query intake.catalogue.',
  attachments:
    'What consoles found out about the pictures of feedback, with older facts. Query intake.feedback.',
  counted: 'Every run that has counted. Query intake.counted.',
  alerts:
    'States of alerts, with older ones. Query intake.alerts, intake.alert_states and intake.alert_changes.',
  recounts: 'Every demand to count again. Query intake.recounts.',
}

/** The tables that workers write, and that views show. Only the columns of the views have comments. */
export const rawDefinitions: readonly Definition[] = Object.entries(comments).map(
  ([kind, comment]) => {
    const { name, columns = [] } = rawTables[kind as TableBehindView]
    return {
      name: name.replace('intake.', ''),
      comment,
      columns: Object.fromEntries(columns.map((column) => [column, ''])),
    }
  },
)
