import type { DeviceField } from '@intake/contract'
import type { ColumnComments, Definition } from './definition.ts'
import { jsonText } from './functions.ts'
import { plainColumns, plainSelect } from './plain-device.ts'

const head: ColumnComments = {
  id: 'UUIDv7 of the record. The time inside it is the column time.',
  time: 'When it happened, UTC: by the id or the clock of the device if that is believable, else when it arrived. Filter by it.',
  received_at: 'When the gateway accepted it, UTC.',
  client_timestamp:
    'The timestamp that the client gave, UTC; NULL if none. It can be wrong by years.',
  bundle_identifier:
    'The application. Filter by it: the tables are sorted by application and time.',
  device_uuid: 'The device, as the client identifies it.',
  unique_user_id: 'The user, as the client identifies them.',
  api_key_id: 'The API key that sent it: its id, not the key.',
  request_id: 'The request that sent it: the same for all records of a batch.',
  country:
    'Country of the request, two capital letters, from a header that the operator named; NULL if unknown.',
}

const more = {
  device:
    'Documented properties of the device, such as device.os. A property that was not sent is NULL.',
  device_extra: 'Other properties of the device, as JSON.',
  event: 'Name of the event.',
  params:
    'Parameters of the event, as JSON. Read them with intake_number, intake_text or intake_bool.',
  feedback_id: 'The id that the client gave the feedback; NULL if none.',
  email: 'E-mail address of the user; NULL if not given.',
  text: 'The feedback.',
  attachments:
    'Pictures in the object store: key, content_type, bytes and sha256 of each. What consoles found out since: width and height in pixels, thumbnail_key, and error (why there is no thumbnail); NULL while not known.',
  attachment_count:
    'How many pictures it has. A condition on it costs much less than one on attachments.',
  extra: 'Unknown fields of the submission as JSON, at their path, such as foo or log.foo.',
  sample_rate:
    'The part of the devices whose events like this one are stored, by a rule: 1 unless they are sampled. Count events with sum(1 / sample_rate).',
}
const pick = (...columns: (keyof typeof more)[]): ColumnComments =>
  Object.fromEntries(columns.map((name) => [name, more[name]]))

const names = (columns: ColumnComments) => Object.keys(columns).join(', ')
const asText = (columns: ColumnComments) =>
  Object.keys(columns)
    .map((name) => `${jsonText(name)} AS ${name}`)
    .join(', ')

/**
 * The attachments of a feedback, each with the facts about it, such as its size and thumbnail. If
 * the list of facts does not have exactly the keys of the attachments, all facts are NULL:
 * `arrayResize` fills an empty list with NULLs.
 */
const attachmentsWithFacts = `CAST(
    arrayMap(
      (one, fact) -> (one.1, one.2, one.3, one.4, fact.2, fact.3, fact.4, fact.5),
      feedback.attachments,
      arrayResize(if(facts.key = feedback.attachments.key, facts, []), length(feedback.attachments))),
    'Array(Tuple(key String, content_type String, bytes UInt64, sha256 String, width Nullable(UInt32), height Nullable(UInt32), thumbnail_key Nullable(String), error Nullable(String)))')`
/** It needs only feedback_raw, so ClickHouse filters, sorts and limits before the join. */
const countOfAttachments = 'length(feedback.attachments) AS attachment_count'
const fromFeedback = `FROM intake.feedback_raw AS feedback FINAL
LEFT ANY JOIN intake.attachments_raw AS examined FINAL USING (bundle_identifier, time, id, device_uuid)`

const forTools = 'for tools that cannot read tuples and JSON: a plain column for each property'

const deviceExtra = pick('device_extra')
const extra = pick('extra')
const event = pick('event')
const sampleRate = pick('sample_rate')
const feedback = pick('feedback_id', 'email', 'text')
const attachmentCount = pick('attachment_count')
const logColumns = {
  ...head,
  ...pick('device', 'device_extra', 'event', 'params', 'extra', 'sample_rate'),
}
const feedbackColumns = {
  ...head,
  ...pick('device', 'device_extra'),
  ...feedback,
  ...pick('attachments', 'extra'),
}
const logText = { ...deviceExtra, params: 'Parameters of the event, as JSON.', ...extra }
const feedbackText = pick('device_extra', 'attachments', 'extra')

export function recordDefinitions(fields: readonly DeviceField[]): Definition[] {
  const plainDevice = plainColumns(fields)
  const plainDeviceColumns = plainSelect(fields)
  return [
    {
      name: 'logs',
      comment: 'Log events, each once. For tools that cannot read JSON: logs_flat.',
      columns: logColumns,
      select: `SELECT ${names(logColumns)} FROM intake.logs_raw FINAL`,
    },
    {
      name: 'feedback',
      comment: 'Feedback of users, each once. For tools that cannot read JSON: feedback_flat.',
      columns: { ...feedbackColumns, ...attachmentCount },
      select: `SELECT ${names(feedbackColumns).replace('attachments', `${attachmentsWithFacts} AS attachments`)}, ${countOfAttachments}
${fromFeedback}`,
    },
    {
      name: 'logs_flat',
      comment: `Log events ${forTools}.`,
      columns: { ...head, ...plainDevice, ...event, ...logText, ...sampleRate },
      select: `SELECT ${names(head)}, ${plainDeviceColumns}, ${names(event)}, ${asText(logText)}, ${names(sampleRate)}
FROM intake.logs_raw FINAL`,
    },
    {
      name: 'feedback_flat',
      comment: `Feedback ${forTools}.`,
      columns: { ...head, ...plainDevice, ...feedback, ...feedbackText, ...attachmentCount },
      select: `SELECT ${names(head)}, ${plainDeviceColumns}, ${names(feedback)}, ${asText(deviceExtra)}, toJSONString(${attachmentsWithFacts}) AS attachments, ${asText(extra)}, ${countOfAttachments}
${fromFeedback}`,
    },
  ]
}
