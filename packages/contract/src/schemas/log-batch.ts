import { Type, type Static } from 'typebox'
import { keptFor, limits, timestampForm } from '../limits.ts'
import { uuidPattern } from '../uuid.ts'
import { nullable } from './fields.ts'
import { logEvent } from './log.ts'
import { errorCode, FieldErrors, serverTime } from './problem.ts'
import { sender } from './sender.ts'

export const LogEntry = Type.Object(
  {
    ...logEvent,
    id: Type.Optional(
      nullable<string>('string', {
        pattern: uuidPattern,
        description:
          'Identifier of the event, preferably a UUIDv7 of the moment it happened: however often it is sent, ' +
          'it is one event. The time of a UUIDv7 must lie within 30 days before and 10 minutes after now. ' +
          'A UUIDv7 that another request used for other content is not detected; the first content is kept. ' +
          `Any other UUID is remembered for ${keptFor.logs}.`,
      }),
    ),
    timestamp: Type.Optional(
      nullable<string>('string', {
        description:
          `When the event happened by the clock of the device: ${timestampForm} ` +
          'Any other string is kept in `extra`.',
      }),
    ),
  },
  { description: 'What happened. Unknown fields are kept in `extra`.' },
)
export type LogEntry = Static<typeof LogEntry>

const size = { minItems: 1, maxItems: limits.batchEntries }

export const LogBatchSubmission = Type.Object(
  {
    ...sender,
    logs: Type.Array(LogEntry, {
      ...size,
      description: 'The events. Each is accepted or rejected on its own.',
    }),
  },
  { description: 'Log events of one device.' },
)

/** The envelope of a batch: `LogBatchSubmission` with unvalidated entries. */
export const LogBatchEnvelope = Type.Object({
  ...sender,
  logs: Type.Array(Type.Unknown(), size),
})
export type LogBatchEnvelope = Static<typeof LogBatchEnvelope>

const recordId = Type.String({
  format: 'uuid',
  description: 'The id of an accepted or dropped entry.',
})

/** The result for one entry of a batch. Results have the order of the entries. */
export const LogEntryResult = Type.Union(
  [
    Type.Object({
      status: Type.Literal('accepted'),
      id: recordId,
    }),
    Type.Object({
      status: Type.Literal('dropped'),
      id: recordId,
    }),
    Type.Object({
      status: Type.Literal('rejected'),
      code: errorCode,
      detail: Type.Optional(
        Type.String({
          description: `What is wrong with a rejected entry; for the first ${limits.explainedEntries} of them.`,
        }),
      ),
      errors: Type.Optional(FieldErrors),
      server_time: Type.Optional(serverTime),
    }),
  ],
  { description: 'The result for one entry of a batch.' },
)
export type LogEntryResult = Static<typeof LogEntryResult>

export const LogBatchResult = Type.Object(
  {
    message: Type.Literal('Logs processed'),
    accepted: Type.Integer({
      description:
        'Entries that need not be sent again: stored, or `dropped`, because the operator does not keep them.',
    }),
    rejected: Type.Integer({
      description: 'Entries that are not stored. Sending them again unchanged does not help.',
    }),
    results: Type.Array(LogEntryResult, { description: 'One per entry, in their order.' }),
  },
  { description: 'Every entry whose status is `accepted` is stored.' },
)
export type LogBatchResult = Static<typeof LogBatchResult>
