import { randomUUID } from 'node:crypto'
import { documentedDeviceFields } from '@intake/contract'
import type { LogSubmission } from '@intake/contract/schemas'

export type LogRow = Record<string, unknown> & { id: string }

/**
 * The row of a log event, with the columns that Intake writes.
 *
 * @param id UUIDv7
 */
export function logRow(id: string, body: LogSubmission): LogRow {
  const time = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
  const device: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body.device)) {
    if (documentedDeviceFields.has(name)) device[name] = value
    else extra[name] = value
  }
  return {
    id,
    time,
    received_at: time,
    bundle_identifier: body.bundle_identifier,
    device_uuid: body.device_uuid,
    unique_user_id: body.unique_user_id,
    api_key_id: 'key_000000000000',
    request_id: randomUUID(),
    device,
    device_extra: extra,
    event: body.log.event,
    params: body.log.params ?? {},
  }
}
