import type { State } from './state.ts'

/**
 * The fields of a request, without the properties of the device that the server has refused.
 * Records that were made before the device's UUID was known get it here.
 */
export const acceptedOf = ({ uuid, refused }: State, fields: { device?: unknown }): object => {
  const device = { ...(fields.device as Record<string, unknown>) }
  for (const name of refused) delete device[name]
  return { device_uuid: uuid, unique_user_id: uuid, ...fields, device }
}
