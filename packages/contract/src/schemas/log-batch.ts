import { Type, type Static } from 'typebox'
import { limits } from '../limits.ts'
import { nullable, timestamp, uuidPattern } from './fields.ts'
import { logEvent } from './log.ts'
import { FieldErrors } from './problem.ts'
import { sender } from './sender.ts'

/** One entry of a batch. Unknown fields are ignored. */
export const LogEntry = Type.Object({
  ...logEvent,
  id: Type.Optional(
    nullable<string>('string', {
      pattern: uuidPattern,
      description:
        'Idempotency id of this entry: sent again within 72 hours it is still one event.',
    }),
  ),
  timestamp: Type.Optional(timestamp),
})
export type LogEntry = Static<typeof LogEntry>

const size = { minItems: 1, maxItems: limits.batchEntries }

/** Body of `POST /api/log/batch`. */
export const LogBatchSubmission = Type.Object(
  {
    ...sender,
    logs: Type.Array(LogEntry, {
      ...size,
      description: 'The events. Each is taken or refused on its own.',
    }),
  },
  { description: 'Log events of one device.' },
)

/** The same, before its entries have been looked at. */
export const LogBatchEnvelope = Type.Object({
  ...sender,
  logs: Type.Array(Type.Unknown(), size),
})
export type LogBatchEnvelope = Static<typeof LogBatchEnvelope>

/** What became of one entry, in the order of the entries. */
export const LogVerdict = Type.Union([
  Type.Object({
    status: Type.Literal('accepted'),
    id: Type.String({ format: 'uuid' }),
  }),
  Type.Object({
    status: Type.Literal('rejected'),
    code: Type.String(),
    detail: Type.String(),
    errors: FieldErrors,
  }),
])
export type LogVerdict = Static<typeof LogVerdict>

export const LogBatchResult = Type.Object(
  {
    message: Type.Literal('Logs processed'),
    accepted: Type.Integer({ description: 'Entries that are stored.' }),
    rejected: Type.Integer({
      description: 'Entries that are not, and will not be when sent again unchanged.',
    }),
    results: Type.Array(LogVerdict, { description: 'A verdict per entry, in their order.' }),
  },
  { description: 'Every accepted entry is stored.' },
)
