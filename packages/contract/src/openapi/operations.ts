import { batchJsonBytesMax, keptFor, limits } from '../limits.ts'
import { feedbackExample, logBatchExample, logExample } from './examples.ts'
import { errorResponses, success } from './responses.ts'

/** Settings of the gateway that the document mentions. */
export interface DocumentedLimits {
  BATCH_BODY_BYTES_MAX: number
  ATTACHMENT_BYTES_MAX: number
  ATTACHMENT_PIXELS_MAX: number
  KEEP_METADATA: boolean
}

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: limits.identifierLength },
    description:
      'The same for every attempt to send the same record or batch: the record is stored once within ' +
      `${keptFor.logs}, feedback within ${keptFor.feedback}. The key of a batch covers all entries, and identifies those ` +
      'without an `id`. Other content, or another id, under the same key from the same application ' +
      'and device is refused. Log events with a UUIDv7 as `id` need no key.',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    example: 'handling=lenient',
    description:
      '`handling=lenient`: attachments that are too large, too many or not images are left out, ' +
      'an invalid e-mail is kept only in `extra`, and the rest is stored; the response has the result ' +
      'of each.',
  },
} as const

const refer = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` })
const gzip = 'The body may be compressed, with the header `Content-Encoding: gzip`.'

/** What the document says about each operation, by path. */
export const describeOperations = (config: DocumentedLimits) => ({
  '/api/log': {
    post: {
      operationId: 'createLog',
      tags: ['intake'],
      summary: 'Submit an application log event',
      description:
        `At most ${limits.logBytes} bytes, before and after decompression, and ` +
        `${limits.jsonNodes} members and elements. ${gzip}`,
      parameters: [refer('IdempotencyKey')],
      requestBody: jsonBody('LogSubmission', logExample.request),
      responses: {
        '201': success({
          description: 'The log event is stored.',
          schema: 'LogCreated',
          example: logExample.response,
        }),
        ...errorResponses('createLog'),
      },
    },
  },
  '/api/log/batch': {
    post: {
      operationId: 'createLogBatch',
      tags: ['intake'],
      summary: `Submit up to ${limits.batchEntries} application log events of one device`,
      description:
        'Every entry is accepted or rejected on its own; the response has a result for each. An entry that is ' +
        '`dropped` is accepted, but the operator does not keep such events. ' +
        'An entry whose `id` is a UUIDv7 is stored once, however often it is sent. An entry with ' +
        `another id, or in a batch with an \`Idempotency-Key\`, is stored once within ${keptFor.logs}. Any other ` +
        `entry is stored again each time. ${gzip} ` +
        `At most ${config.BATCH_BODY_BYTES_MAX} bytes as sent, ${limits.logBytes} for an entry with ` +
        `the device, ${batchJsonBytesMax(config.BATCH_BODY_BYTES_MAX)} bytes after decompression, or ` +
        `${limits.losslessJsonBytes} characters with an integer beyond 2^53 or an escape in a name; ` +
        `at most ${limits.batchJsonNodes} members and elements, ${limits.jsonNodes} in an entry.`,
      parameters: [refer('IdempotencyKey')],
      requestBody: jsonBody('LogBatchSubmission', logBatchExample.request),
      responses: {
        '207': success({
          description: 'Every entry whose status is `accepted` is stored, and no other.',
          schema: 'LogBatchResult',
          example: logBatchExample.response,
        }),
        ...errorResponses('createLogBatch'),
      },
    },
  },
  '/api/feedback': {
    post: {
      operationId: 'createFeedback',
      tags: ['intake'],
      summary: 'Submit user feedback with images',
      description:
        `Each attachment has at most ${config.ATTACHMENT_BYTES_MAX} bytes and ${config.ATTACHMENT_PIXELS_MAX} pixels. ` +
        (config.KEEP_METADATA ? '' : 'Its metadata is removed before it is stored. ') +
        `The payload has at most ${limits.payloadBytes} bytes and ${limits.jsonNodes} members and ` +
        'elements. It is a text part without a file name. The form must not be compressed.',
      parameters: [refer('IdempotencyKey'), refer('Prefer')],
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: { $ref: '#/components/schemas/FeedbackForm' },
            example: feedbackExample.request,
            encoding: { payload: { contentType: 'application/json' } },
          },
        },
      },
      responses: {
        '201': success({
          description: 'The feedback is stored.',
          schema: 'FeedbackCreated',
          example: feedbackExample.response,
        }),
        ...errorResponses('createFeedback'),
      },
    },
  },
})

function jsonBody(schema: string, example: object) {
  const content = { schema: { $ref: `#/components/schemas/${schema}` }, example }
  return { required: true, content: { 'application/json': content } }
}
