import { limits } from '../limits.ts'
import {
  AttachmentResult,
  DeviceInformation,
  FeedbackCreated,
  FeedbackPayload,
  LogBatchResult,
  LogBatchSubmission,
  LogCreated,
  LogEntry,
  LogEntryResult,
  LogSubmission,
  Problem,
} from '../schemas/index.ts'
import { createSchemaWriter, type Schema } from './write-schema.ts'

const { feedback } = FeedbackPayload.properties

/** The schemas of the contract that have a name in the document. */
const named = {
  Device: DeviceInformation,
  LogEvent: LogEntry,
  LogSubmission,
  LogBatchSubmission,
  Feedback: feedback,
  FeedbackPayload,
  LogCreated,
  LogEntryResult,
  LogBatchResult,
  AttachmentResult,
  OmittedTextParts: FeedbackCreated.properties.omitted_text_parts,
  FeedbackCreated,
  Problem,
  ErrorCode: Problem.properties.code,
  FieldError: Problem.properties.errors.items,
}

const { refer, define } = createSchemaWriter({
  names: new Map<object, string>([
    ...Object.entries(named).map(([name, schema]) => [schema, name] as const),
    // Any `id` and `timestamp` is accepted there, but valid ones mean the same as in a batch.
    [LogSubmission.properties.log, 'LogEvent'],
  ]),
  recommended: new Map([[LogEntry.properties.timestamp, { format: 'date-time' }]]),
  // Clients send attachments as files of the form.
  undocumented: new Set([feedback.properties.attachments]),
})

/** The form of `POST /api/feedback`; `packages/contract` has only the schema of its JSON. */
const FeedbackForm: Schema = {
  type: 'object',
  description: `User feedback with images; at most ${limits.formParts} parts.`,
  required: ['payload'],
  properties: {
    payload: refer(FeedbackPayload),
    attachments: {
      type: 'array',
      description: 'Images, one per file part. File parts with other names count too.',
      maxItems: limits.attachments,
      items: { type: 'string', format: 'binary' },
    },
  },
}

/** The component schemas of the document. */
export const schemas: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, define(schema)])),
  FeedbackForm,
}
