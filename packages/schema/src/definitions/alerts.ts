import type { ColumnComments, Definition } from './definition.ts'

const subject: ColumnComments = {
  id: 'Id of the alert (intake alerts list).',
  bundle_identifier: 'The application.',
  event: 'Name of the event; empty for new-crash.',
}
const condition: ColumnComments = {
  version_name: 'Only events of this device.version_name; empty: of all versions.',
  condition: 'above, below, times or new-crash.',
  threshold: 'The number that it compares with.',
  unit: 'events, or percent of the devices.',
  minutes: 'Length of the window.',
}
const found: ColumnComments = {
  value: 'What was counted in the window; NULL if it is not known.',
  usual: 'For times: what is usual at this time of the day; NULL if it is not known.',
  detail: 'For new-crash: the stack trace of the latest one.',
  evaluated_at: 'When it was last evaluated, UTC.',
}
const number: ColumnComments = { change: 'How many states it had before.' }
const author: ColumnComments = {
  created_at: 'When it was added, UTC.',
  created_by: 'Who added it.',
}

/** SQL for columns of the latest change of an alert. */
const latest = (...columns: ColumnComments[]) =>
  columns
    .flatMap((one) => Object.keys(one))
    .filter((name) => name !== 'id')
    .map((name) => `argMax(alerts_raw.${name}, alerts_raw.change) AS ${name}`)
    .join(', ')

const from = `FROM intake.alerts_raw FINAL
GROUP BY id
HAVING argMax(alerts_raw.is_removed, alerts_raw.change) = 0`
const validUntil = 'argMax(alerts_raw.valid_until, alerts_raw.change)'

const changeColumns: ColumnComments = {
  ...subject,
  ...condition,
  ...number,
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
    columns: { ...subject, ...condition, ...author },
    select: `SELECT id, ${latest(subject, condition, author)}
${from}`,
  },
  {
    name: 'alert_states',
    comment: 'The state of each alert on events.',
    columns: {
      ...subject,
      ...number,
      state:
        'ok, firing, or unknown: records are behind, it is not known what is usual, or nobody evaluates it.',
      since: 'When it took this state, UTC.',
      ...found,
    },
    select: `SELECT id, ${latest(subject, number)},
  if(${validUntil} < now64(3), 'unknown', argMax(alerts_raw.state, alerts_raw.change)) AS state,
  if(${validUntil} < now64(3), ${validUntil}, argMax(alerts_raw.since, alerts_raw.change)) AS since,
  ${latest(found)}
${from}`,
  },
  {
    name: 'alert_changes',
    comment: 'The states that alerts had, also those of removed alerts.',
    columns: changeColumns,
    select: `SELECT ${Object.keys(changeColumns).join(', ')}
FROM intake.alerts_raw FINAL`,
  },
]
