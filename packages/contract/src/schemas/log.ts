import { Type, type Static } from 'typebox'
import { DeviceInformation } from './device.ts'
import { deviceUuid, identifier, nullable } from './fields.ts'

/** Body of `POST /api/log`. Unknown fields outside `device` and `params` are ignored. */
export const LogSubmission = Type.Object(
  {
    bundle_identifier: identifier('Bundle identifier of the application.'),
    device: DeviceInformation,
    device_uuid: deviceUuid,
    unique_user_id: identifier('Identifies the user.'),
    log: Type.Object({
      event: identifier('Name of the logged event.'),
      params: Type.Optional(
        nullable<Record<string, unknown>>('object', {
          default: {},
          description: 'Event parameters: any JSON object, value types are kept.',
        }),
      ),
    }),
  },
  { description: 'An application log event.' },
)
export type LogSubmission = Static<typeof LogSubmission>

export const LogCreated = Type.Object(
  { message: Type.Literal('Log successfully created'), id: Type.String({ format: 'uuid' }) },
  { description: 'The log event is stored.' },
)
