import { Type, type Static } from 'typebox'
import { identifier, nullable } from './fields.ts'
import { sender } from './sender.ts'

export const logEvent = {
  event: identifier('Name of the logged event.'),
  params: Type.Optional(
    nullable<Record<string, unknown>>('object', {
      default: {},
      description: 'Event parameters: any JSON object, value types are kept.',
    }),
  ),
}

/**
 * Apps that were shipped before these fields existed may use the names for other values. So an
 * invalid value is no error in `POST /api/log`: it is stored like an unknown field.
 */
const optional = {
  id: Type.Optional(
    Type.Unknown({
      description:
        'Identifier of the event, preferably a UUIDv7 of the moment it happened: however often it is ' +
        'sent, it is one event; see the entries of a batch. Anything but a UUID is kept in `extra`.',
    }),
  ),
  timestamp: Type.Optional(
    Type.Unknown({
      description:
        'When the event happened by the clock of the device: ISO 8601 with `Z` or an offset with a ' +
        'colon (`+01:00`). Anything else is kept in `extra`.',
    }),
  ),
}

/** Body of `POST /api/log`. Unknown fields are kept: in `device_extra`, `params` and `extra`. */
export const LogSubmission = Type.Object(
  { ...sender, log: Type.Object({ ...logEvent, ...optional }) },
  { description: 'An application log event.' },
)
export type LogSubmission = Static<typeof LogSubmission>

export const LogCreated = Type.Object(
  {
    message: Type.Literal('Log successfully created'),
    id: Type.String({ format: 'uuid', description: 'The id of the record.' }),
  },
  { description: 'The log event is stored.' },
)
export type LogCreated = Static<typeof LogCreated>
