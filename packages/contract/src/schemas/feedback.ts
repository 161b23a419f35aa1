import { Type, type Static } from 'typebox'
import { limits } from '../limits.ts'
import { uuidPattern } from '../uuid.ts'
import { emailPattern, nullable } from './fields.ts'
import { errorCode, FieldErrors } from './problem.ts'
import { sender } from './sender.ts'

export const FeedbackPayload = Type.Object(
  {
    ...sender,
    feedback: Type.Object(
      {
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
      },
      { description: 'What the user says. Unknown fields are kept in `extra`.' },
    ),
  },
  { description: 'User feedback.' },
)
export type FeedbackPayload = Static<typeof FeedbackPayload>

/** The result for one file part of the form. Results have the order of the parts. */
export const AttachmentResult = Type.Union(
  [
    Type.Object({
      status: Type.Literal('stored'),
      content_type: Type.String({ description: 'The type of a stored image, by its bytes.' }),
      bytes: Type.Integer({
        format: 'int64',
        description: 'The size of a stored image, without its metadata.',
      }),
      sha256: Type.String({
        description: 'The SHA-256 of a stored image, without its metadata, in hexadecimal.',
      }),
    }),
    Type.Object({
      status: Type.Literal('rejected'),
      code: errorCode,
      detail: Type.String({ description: 'What is wrong with a rejected file.' }),
    }),
  ],
  { description: 'The result for one file part.' },
)
export type AttachmentResult = Static<typeof AttachmentResult>

export const FeedbackCreated = Type.Object(
  {
    message: Type.Literal('Feedback successfully created'),
    id: Type.String({ format: 'uuid', description: 'The id of the record.' }),
    attachments: Type.Array(AttachmentResult, {
      description: 'One per file part, in their order.',
    }),
    omitted_text_parts: Type.Optional(
      Type.Object(
        {
          parts: Type.Integer({ description: 'Their number.' }),
          bytes: Type.Integer({ format: 'int64', description: 'Their size.' }),
        },
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
export type FeedbackCreated = Static<typeof FeedbackCreated>
