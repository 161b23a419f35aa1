import { Type, type Static } from 'typebox'
import { DeviceInformation } from './device.ts'
import { deviceUuid, identifier } from './fields.ts'

export const sender = {
  bundle_identifier: identifier('Bundle identifier of the application.'),
  device: DeviceInformation,
  device_uuid: deviceUuid,
  unique_user_id: identifier('Identifies the user.'),
}

const Sender = Type.Object(sender)
export type Sender = Static<typeof Sender>

export const senderFields = Object.keys(sender)
