import { Type, type Static } from 'typebox'
import { identifier, nullable } from './fields.ts'
import { sender } from './sender.ts'

/** What happened: the fields of one log event. */
export const logEvent = {
  event: identifier('Name of the logged event.'),
  params: Type.Optional(
    nullable<Record<string, unknown>>('object', {
      default: {},
      description: 'Event parameters: any JSON object, value types are kept.',
    }),
  ),
}

/** Body of `POST /api/log`. Unknown fields outside `device` and `params` are ignored. */
export const LogSubmission = Type.Object(
  { ...sender, log: Type.Object(logEvent) },
  { description: 'An application log event.' },
)
export type LogSubmission = Static<typeof LogSubmission>

export const LogCreated = Type.Object(
  { message: Type.Literal('Log successfully created'), id: Type.String({ format: 'uuid' }) },
  { description: 'The log event is stored.' },
)
