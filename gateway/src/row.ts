import {
  documentedDeviceFields,
  timestampDeviceFields,
  type FeedbackPayload,
  type LogSubmission,
} from '@intake/contract'
import type { Identity } from './identity.ts'
import { rowJson } from './row-json.ts'

/** A finished table row. Its bytes never change again: what a retry re-inserts is the same row. */
export interface Row {
  /** UUIDv7. */
  id: string
  /** Month of `received_at` (YYYY-MM): the partition of the table. */
  partition: string
  /** The row as one line of JSONEachRow. */
  json: string
}

export interface StoredAttachment {
  key: string
  content_type: string
  bytes: number
  sha256: string
}

export function logRow(identity: Identity, apiKeyId: string, body: LogSubmission): Row {
  return finish(identity, {
    ...head(identity, apiKeyId, body),
    event: body.log.event,
    params: body.log.params ?? {},
  })
}

export function feedbackRow(
  identity: Identity,
  apiKeyId: string,
  payload: FeedbackPayload,
  attachments: StoredAttachment[],
): Row {
  const { email, id, text } = payload.feedback
  return finish(identity, {
    ...head(identity, apiKeyId, payload),
    feedback_id: id ?? null,
    email: email === '' ? null : (email ?? null),
    text,
    attachments,
  })
}

function finish(identity: Identity, fields: object): Row {
  return {
    id: identity.id,
    partition: identity.receivedAt.slice(0, 7),
    json: rowJson(fields),
  }
}

function head(
  { id, receivedAt }: Identity,
  apiKeyId: string,
  from: Omit<LogSubmission, 'log'>,
): object {
  return {
    id,
    received_at: receivedAt,
    bundle_identifier: from.bundle_identifier,
    device_uuid: from.device_uuid,
    unique_user_id: from.unique_user_id,
    api_key_id: apiKeyId,
    ...splitDevice(from.device),
  }
}

/** Documented properties go to their typed columns, all others to `device_extra`. */
function splitDevice(device: LogSubmission['device']): {
  device: Record<string, unknown>
  device_extra: Record<string, unknown>
} {
  const known: Record<string, unknown> = {}
  // Without a prototype, a property called `__proto__` is a property like any other.
  const extra: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const [name, value] of Object.entries(device)) {
    if (value === null) continue
    if (documentedDeviceFields.has(name)) known[name] = value
    else extra[name] = value
  }
  for (const name of timestampDeviceFields) {
    const value = known[name]
    if (value !== undefined) known[name] = new Date(value as string).toISOString()
  }
  return { device: known, device_extra: extra }
}
