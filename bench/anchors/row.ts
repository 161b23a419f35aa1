import { documentedDeviceFields, type LogSubmission } from '@intake/contract'

export type LogRow = Record<string, unknown> & { id: string }

/** The row of a log event, with the columns that Intake writes. */
export function logRow(id: string, body: LogSubmission): LogRow {
  const device: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body.device)) {
    if (documentedDeviceFields.has(name)) device[name] = value
    else extra[name] = value
  }
  return {
    id,
    received_at: new Date().toISOString(),
    bundle_identifier: body.bundle_identifier,
    device_uuid: body.device_uuid,
    unique_user_id: body.unique_user_id,
    api_key_id: 'key_000000000000',
    device,
    device_extra: extra,
    event: body.log.event,
    params: body.log.params ?? {},
  }
}
