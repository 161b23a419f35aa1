import { Type, type Static } from 'typebox'
import { limits } from '../limits.ts'
import { uuidPattern } from '../uuid.ts'
import { emailPattern, nullable } from './fields.ts'
import { FieldErrors } from './problem.ts'
import { sender } from './sender.ts'

/** The JSON document in the `payload` part of `POST /api/feedback`. */
export const FeedbackPayload = Type.Object(
  {
    ...sender,
    feedback: Type.Object({
      text: Type.String({
        minLength: 1,
        maxLength: limits.feedbackTextLength,
        description: 'The feedback text.',
      }),
      email: Type.Optional(
        Type.Union(
          [
            Type.String({ pattern: emailPattern, maxLength: limits.emailLength }),
            Type.Literal(''),
            Type.Null(),
          ],
          {
            description:
              'Contact e-mail, also internationalised. White space around it is removed; an empty ' +
              'string counts as absent.',
          },
        ),
      ),
      id: Type.Optional(
        nullable<string>('string', {
          pattern: uuidPattern,
          description: 'Identifier of this feedback, assigned by the client.',
        }),
      ),
      attachments: Type.Optional(
        nullable<unknown[]>('array', {
          items: {},
          description: 'Not interpreted; the attachments are the file parts.',
        }),
      ),
    }),
  },
  { description: 'User feedback.' },
)
export type FeedbackPayload = Static<typeof FeedbackPayload>

/** The parts of `POST /api/feedback`, in any order. */
export const FeedbackForm = Type.Object(
  {
    payload: Type.String({
      contentMediaType: 'application/json',
      contentSchema: FeedbackPayload,
      description: 'The feedback as JSON, in a text part (no file name).',
    }),
    attachments: Type.Optional(
      Type.Array(Type.String({ contentMediaType: 'image/*' }), {
        maxItems: limits.attachments,
        description: 'Images, one per file part. File parts with other names count too.',
      }),
    ),
  },
  { description: `User feedback with images; at most ${limits.formParts} parts.` },
)

/** The result for one file part, in the order of the parts. */
export const AttachmentResult = Type.Union([
  Type.Object({
    status: Type.Literal('stored'),
    content_type: Type.String(),
    bytes: Type.Integer(),
    sha256: Type.String(),
  }),
  Type.Object({ status: Type.Literal('rejected'), code: Type.String(), detail: Type.String() }),
])
export type AttachmentResult = Static<typeof AttachmentResult>

export const FeedbackCreated = Type.Object(
  {
    message: Type.Literal('Feedback successfully created'),
    id: Type.String({ format: 'uuid' }),
    attachments: Type.Array(AttachmentResult),
    omitted_text_parts: Type.Optional(
      Type.Object(
        { parts: Type.Integer(), bytes: Type.Integer() },
        {
          description: 'Text parts other than the payload that were too many or too large to keep.',
        },
      ),
    ),
    invalid_fields: Type.Optional({
      ...FieldErrors,
      description: 'With `handling=lenient`: an invalid e-mail, which is kept only in `extra`.',
    }),
  },
  { description: 'The feedback is stored.' },
)
