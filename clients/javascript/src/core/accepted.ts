import type { State } from './state.ts'

/**
 * The fields of a request, without the properties of the device that the server has refused.
 * Records that were made before the device's UUID was known get it here.
 */
export const acceptedOf = (
  { uuid, refused }: State,
  fields: { device?: unknown; logs?: unknown },
): object => ({
  device_uuid: uuid,
  unique_user_id: uuid,
  ...fields,
  device: { ...(fields.device as object), ...refused },
})
