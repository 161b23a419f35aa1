import type { State } from './state.ts'

/**
 * Prints the fields of a request as JSON, without the properties of the device that the server has
 * refused. Records that were made before the device's UUID was known get it here.
 */
export function printAccepted(fields: { device?: unknown }, { uuid, refused }: State): string {
  const device = { ...(fields.device as Record<string, unknown>) }
  for (const name of refused) delete device[name]
  return JSON.stringify({ device_uuid: uuid, unique_user_id: uuid, ...fields, device })
}
