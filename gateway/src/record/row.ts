import {
  documentedDeviceFields,
  isDate,
  isTimestamp,
  momentDeviceFields,
  type DeviceField,
  type FeedbackPayload,
  type LogEntry,
  type Sender,
} from '@intake/contract'
import { createIdentity, isoTime, type Identity } from '@intake/identity'
import type { RequestSpan } from '@intake/tracing'
import type { RequestContext } from './request-context.ts'
import { rowJson } from './row-json.ts'

/** A finished table row. Its bytes never change: a retry inserts the same row again. */
export interface Row {
  /** UUIDv7. */
  id: string
  /** Month of `time` (YYYY-MM): the partition of the table. */
  partition: string
  /** The row as one line of JSONEachRow. */
  json: string
  /** The gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
  /** The span of its request; undefined: not traced. */
  span?: RequestSpan | undefined
}

export interface StoredAttachment {
  key: string
  content_type: string
  bytes: number
  sha256: string
}

/** The columns of a row, in the order in which they are printed; undefined ones are not. */
interface RowValues {
  id: string | undefined
  time: string | undefined
  received_at: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  api_key_id: string
  request_id: string
  country: string | undefined
  device: object
  device_extra: object
  event: string | undefined
  params: object | undefined
  client_timestamp: string | undefined
}

/** A row of which only the columns are set that all records of a request share. */
function sharedValues(context: RequestContext, from: Sender): RowValues {
  const extra = splitDevice(from.device)
  // No spread: V8 defines each property after one by a call of its runtime.
  return {
    id: undefined,
    time: undefined,
    received_at: isoTime(context.receivedAtMs),
    bundle_identifier: from.bundle_identifier,
    device_uuid: from.device_uuid,
    unique_user_id: from.unique_user_id,
    api_key_id: context.apiKeyId,
    request_id: context.requestId,
    country: context.country,
    device: from.device,
    device_extra: extra,
    event: undefined,
    params: undefined,
    client_timestamp: undefined,
  }
}

/** The columns that all records of a request share, as the middle part of their rows. */
export function senderColumns(context: RequestContext, from: Sender, isPlain = false): string {
  return columns(sharedValues(context, from), isPlain)
}

/** Fields of a submission that have no column, at their path; undefined: none. */
export type Extra = Record<string, unknown> | undefined

/**
 * The row of a log event that was sent alone: printed at once, which is cheaper than its parts.
 *
 * @param record.extra JSON; undefined: no unknown fields
 */
export function logRow(record: {
  identity: Identity
  context: RequestContext
  sender: Sender
  log: LogEntry
  extra: string | undefined
  isPlain: boolean
}): Row {
  const { identity, context, sender, log, extra, isPlain } = record
  const row = sharedValues(context, sender)
  row.id = identity.id
  row.time = identity.time
  row.event = log.event
  row.params = log.params ?? {}
  row.client_timestamp = log.timestamp == null ? undefined : inUtc(log.timestamp)
  const json = rowJson(row, isPlain)
  return asRow(
    identity,
    context,
    extra === undefined ? json : `${json.slice(0, -1)},"extra":${extra}}`,
  )
}

/**
 * The row of a log event without the identity.
 *
 * @param sender from `senderColumns`
 * @param extra JSON; undefined: no unknown fields
 */
export function logColumns(
  sender: string,
  { event, params, timestamp }: LogEntry,
  { extra, isPlain }: { extra: string | undefined; isPlain: boolean },
): string {
  const client_timestamp = timestamp == null ? undefined : inUtc(timestamp)
  const record = columns({ event, params: params ?? {}, client_timestamp }, isPlain)
  return extra === undefined ? `${sender},${record}` : `${sender},${record},"extra":${extra}`
}

/** @param sender from `senderColumns` */
export function feedbackRow(
  identity: Identity,
  sender: string,
  record: {
    feedback: FeedbackPayload['feedback']
    attachments: StoredAttachment[]
    extra: Extra
    context: RequestContext
  },
): Row {
  const { feedback, attachments, extra, context } = record
  const { email, id, text } = feedback
  const printed = columns({
    feedback_id: id ?? null,
    email: email === '' ? null : (email ?? null),
    text,
    attachments,
    extra,
  })
  return finishRow({ identity, context, others: `${sender},${printed}` })
}

/** @param row.others all columns except those of the identity */
export function finishRow(row: {
  identity: Identity
  context: Pick<RequestContext, 'receivedAtMs' | 'span'>
  others: string
}): Row {
  const { id, time } = row.identity
  return asRow(row.identity, row.context, `{"id":"${id}","time":"${time}",${row.others}}`)
}

function asRow(
  { id, time }: Identity,
  { receivedAtMs, span }: Pick<RequestContext, 'receivedAtMs' | 'span'>,
  json: string,
): Row {
  return { id, partition: time.slice(0, 7), json, receivedAtMs, span }
}

/** The bytes that `finishRow` adds. */
export const identityBytes = finishRow({
  identity: createIdentity(0),
  context: { receivedAtMs: 0 },
  others: '',
}).json.length

/** The columns of a row without the enclosing braces. */
function columns(values: object, isPlain = false): string {
  return rowJson(values, isPlain).slice(1, -1)
}

/**
 * Leaves the documented properties in the device, as their typed columns get them, and returns all others for
 * `device_extra`, also a date or time that its column cannot hold. Modifies the device in place: copying it
 * would cost as much as printing it.
 */
function splitDevice(device: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype, a property named `__proto__` is an ordinary property.
  const extra: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const name in device) {
    const value = device[name]
    if (value !== null && documentedDeviceFields.has(name)) continue
    if (value !== null) extra[name] = value
    // `undefined` is not printed, and deleting a property makes the object slow.
    device[name] = undefined
  }
  for (const { name, kind } of momentDeviceFields) {
    const sent = device[name]
    if (typeof sent !== 'string') continue
    const value = momentColumn(kind, sent)
    if (value === undefined && sent !== '') extra[name] = sent
    device[name] = value
  }
  return extra
}

/**
 * A date or time of the device as its column gets it; undefined: it is none. A time before 1970 is
 * how Android says that it knows none (-1 ms).
 */
function momentColumn(kind: DeviceField['kind'], sent: string): string | undefined {
  if (kind === 'date') return isDate(sent) ? sent : undefined
  const utc = isTimestamp(sent) ? inUtc(sent) : ''
  return utc >= '1970' ? utc : undefined
}

/**
 * A timestamp of at most this length ending in `Z`, like `2026-11-21T06:30:00.123Z`, already has the
 * right form.
 */
const utcLengthMax = 24

function inUtc(timestamp: string): string {
  return timestamp.endsWith('Z') && timestamp.length <= utcLengthMax
    ? timestamp
    : new Date(timestamp).toISOString()
}
