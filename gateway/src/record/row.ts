import {
  documentedDeviceFields,
  limits,
  momentDeviceFields,
  type DeviceField,
} from '@intake/contract'
import {
  isDate,
  isTimestamp,
  type FeedbackPayload,
  type LogEntry,
  type Sender,
} from '@intake/contract/schemas'
import { createIdentity, isoTime, type Identity } from '@intake/identity'
import type { RequestSpan } from '@intake/tracing'
import { type PrintJson } from '@intake/json'

export interface RequestContext {
  apiKeyId: string
  requestId: string
  /** When the whole request had arrived, in milliseconds since 1970 by the gateway's clock. */
  receivedAtMs: number
  /** The country as two capital letters; absent if unknown. */
  country?: string | undefined
  span?: RequestSpan | undefined
}

/** A complete table row. Its bytes never change: a retry inserts the same row again. */
export interface Row {
  /** The month of `time` (YYYY-MM), which is the partition of the table. */
  partition: string
  /** The row as one line of JSONEachRow. */
  json: string
  apiKeyId: string
  /** When the whole request had arrived, in milliseconds since 1970 by the gateway's clock. */
  receivedAtMs: number
  span?: RequestSpan | undefined
}

export interface StoredAttachment {
  key: string
  content_type: string
  bytes: number
  sha256: string
}

/**
 * Prints the columns that all records of a request share. Changes the device (see `splitDevice`).
 */
export function senderColumns(context: RequestContext, sender: Sender, print: PrintJson): string {
  const device_extra = splitDevice(sender.device)
  const columns = print({
    received_at: isoTime(context.receivedAtMs),
    bundle_identifier: sender.bundle_identifier,
    device_uuid: sender.device_uuid,
    unique_user_id: sender.unique_user_id,
    api_key_id: context.apiKeyId,
    request_id: context.requestId,
    country: context.country,
    device: sender.device,
    device_extra,
  })
  return columns.slice(1, -1)
}

/** The fields that have no column, each at the path at which it was sent. */
export type Extra = Record<string, unknown> | undefined

/**
 * Prints the row of a log event without the identity.
 *
 * @param sender from `senderColumns`
 * @param options.extra JSON; undefined if there are no unknown fields
 * @param options.sampleRate the fraction of devices whose events of this name are stored (see
 * `Ruling`); default: 1
 */
export function logColumns(
  sender: string,
  { event, params, timestamp }: LogEntry,
  options: { extra: string | undefined; print: PrintJson; sampleRate?: number },
): string {
  const { extra, print, sampleRate = 1 } = options
  const client_timestamp = timestamp == null ? undefined : inUtc(timestamp)
  const own = print({ event, params: params ?? {}, client_timestamp }).slice(1, -1)
  let printed = `${sender},${own}`
  if (extra !== undefined) printed += `,"extra":${extra}`
  return sampleRate === 1 ? printed : `${printed},"sample_rate":${sampleRate}`
}

/**
 * @param record.sender from `senderColumns`
 * @param record.extra JSON; undefined if there are no unknown fields
 */
export function feedbackRow(
  identity: Identity,
  record: {
    sender: string
    feedback: FeedbackPayload['feedback']
    print: PrintJson
    attachments: StoredAttachment[]
    extra: string | undefined
    context: RequestContext
  },
): Row {
  const { sender, feedback, print, attachments, extra, context } = record
  const { email, id, text } = feedback
  const own = { feedback_id: id ?? null, email: email === '' ? null : (email ?? null), text }
  const others = `${sender},${print({ ...own, attachments }).slice(1, -1)}`
  return finishRow({
    identity,
    context,
    others: extra === undefined ? others : `${others},"extra":${extra}`,
  })
}

/** @param row.others all columns except `id` and `time`, as JSON without the enclosing braces */
export function finishRow(row: {
  identity: Identity
  context: Pick<RequestContext, 'apiKeyId' | 'receivedAtMs' | 'span'>
  others: string
}): Row {
  const { id, time } = row.identity
  const { apiKeyId, receivedAtMs, span } = row.context
  const json = `{"id":"${id}","time":"${time}",${row.others}}`
  return { partition: time.slice(0, 7), json, apiKeyId, receivedAtMs, span }
}

/** The number of bytes that `finishRow` adds to the other columns. */
export const identityBytes = finishRow({
  identity: createIdentity(0),
  context: { apiKeyId: '', receivedAtMs: 0 },
  others: '',
}).json.length

const { deviceTextLength: textLength } = limits

/**
 * Splits a device into its typed columns and `device_extra`. The documented properties remain in
 * the device, in the form of their columns. All other properties are returned, including a date or
 * time that its column cannot hold, and a text that is too long for a name; `null` and an empty date
 * or time are dropped. The device is modified in place: copying it would cost as much as printing it.
 */
function splitDevice(device: Record<string, unknown>): Record<string, unknown> {
  // The object has no prototype, so that a property named `__proto__` is an ordinary property.
  const extra: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const name in device) {
    const value = device[name]
    if (value !== null && documentedDeviceFields.has(name)) {
      const mayBeLong = typeof value === 'string' ? value.length > textLength : Array.isArray(value)
      if (!mayBeLong || !isLong(value)) continue
    }
    if (value !== null) extra[name] = value
    // Assigns `undefined`, which is not printed, because deleting a property makes the object slow.
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

/** Whether a text, or one of a list, has more characters than the columns of the device hold. */
function isLong(value: unknown): boolean {
  if (typeof value !== 'string') return Array.isArray(value) && value.some(isLong)
  return value.length > textLength && Array.from(value).length > textLength
}

/**
 * Returns a date or time of the device in the form of its column; undefined if it is invalid. A
 * time before 1970 is invalid: Android sends -1 ms if it does not know the time.
 */
function momentColumn(kind: DeviceField['kind'], sent: string): string | undefined {
  if (kind === 'date') return isDate(sent) ? sent : undefined
  const utc = isTimestamp(sent) ? inUtc(sent) : ''
  return utc >= '1970' ? utc : undefined
}

/** Such a timestamp that ends in `Z`, like `2026-11-21T06:30:00.123Z`, needs no conversion. */
const utcLengthMax = 24

function inUtc(timestamp: string): string {
  return timestamp.endsWith('Z') && timestamp.length <= utcLengthMax
    ? timestamp
    : new Date(timestamp).toISOString()
}
