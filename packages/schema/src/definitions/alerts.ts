import type { ColumnComments, Definition } from './definition.ts'

const definition: ColumnComments = {
  id: 'Id of the alert (intake alerts list).',
  bundle_identifier: 'The application.',
  event: 'Name of the event; empty for new-crash.',
  version_name: 'Only events of this device.version_name; empty: of all versions.',
  condition: 'above, below, times or new-crash.',
  threshold: 'The number that it compares with.',
  unit: 'events, or percent of the devices.',
  minutes: 'Length of the window.',
}
const author: ColumnComments = {
  created_at: 'When it was added, UTC.',
  created_by: 'Who added it.',
}
const found: ColumnComments = {
  change: 'How many states it had before.',
  value: 'What was counted in the window; NULL if it is not known.',
  usual: 'For times: what is usual at this time of the day; NULL if it is not known.',
  evaluated_at: 'When it was last evaluated, UTC.',
}

/**
 * SQL for the last change of each alert that was not removed. No change is ever deleted: whatever
 * groups or sorts all columns needs more memory every day.
 */
const fromLast = `FROM intake.alerts_raw FINAL
WHERE (id, change) IN (SELECT id, max(change) FROM intake.alerts_raw GROUP BY id) AND is_removed = 0`
const isValid = 'valid_until >= now64(3)'

const names = (...columns: ColumnComments[]) =>
  columns.flatMap((one) => Object.keys(one)).join(', ')

const changeColumns: ColumnComments = {
  ...definition,
  state: 'ok, firing or unknown.',
  since: 'When it took this state, UTC.',
  ...found,
  told: 'The state that was last sent to the receiver: ok or firing; ok before the first message.',
  is_message: '1: this change is sent to the receiver of the application.',
  is_removed: '1: the alert was removed in this state.',
}

export const alertDefinitions: readonly Definition[] = [
  {
    name: 'alerts',
    comment: 'The alerts on events (intake alerts).',
    columns: { ...definition, ...author },
    select: `SELECT ${names(definition, author)}
${fromLast}`,
  },
  {
    name: 'alert_states',
    comment: 'The state of each alert on events.',
    columns: {
      ...definition,
      state:
        'ok, firing, or unknown: records are behind, it is not known what is usual, or nobody evaluates it.',
      since: 'When it took this state, UTC.',
      ...found,
    },
    select: `SELECT ${names(definition)}, if(${isValid}, alerts_raw.state, 'unknown') AS state,
  if(${isValid}, alerts_raw.since, valid_until) AS since, ${names(found)}
${fromLast}`,
  },
  {
    name: 'alert_changes',
    comment: 'The states that alerts had, also those of removed alerts.',
    columns: changeColumns,
    select: `SELECT ${names(changeColumns)}
FROM intake.alerts_raw FINAL`,
  },
]
