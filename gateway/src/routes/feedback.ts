import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'
import { formBytesMax } from '@intake/config'
import { FeedbackCreated, type AttachmentResult } from '@intake/contract/schemas'
import { isLenient, type FeedbackSteps } from '../accept/feedback.ts'
import { contentEncoding } from '../body/content-encoding.ts'
import { multipartOptions } from '../form/feedback-form.ts'
import type { Upload } from '../form/upload.ts'
import { invalidEmailErrors } from '../record/feedback-fields.ts'
import { acceptRoute, type RouteOptions } from './accept-route.ts'

/** Serves `POST /api/feedback`, which accepts a feedback text with up to four images. */
export async function feedbackRoute(
  app: FastifyInstance,
  options: RouteOptions & { steps: FeedbackSteps; attachmentBytesMax: number },
): Promise<void> {
  const { steps, attachmentBytesMax } = options
  await app.register(contentEncoding, { accepted: [] })
  await app.register(multipart, multipartOptions(attachmentBytesMax))

  acceptRoute(app, options, {
    url: '/api/feedback',
    steps,
    bodyBytesMax: formBytesMax(attachmentBytesMax),
    readsPast: isLenient,
    status: 201,
    schema: FeedbackCreated,
    respond({ submission: { uploads, omitted, invalidEmail }, identified }) {
      return {
        message: 'Feedback successfully created',
        id: identified.id,
        attachments: uploads.map(attachmentResult),
        ...(omitted && { omitted_text_parts: omitted }),
        ...(invalidEmail && { invalid_fields: invalidEmailErrors }),
      }
    },
  })
}

function attachmentResult(upload: Upload): AttachmentResult {
  if ('refusal' in upload) {
    const { code, errors } = upload.refusal
    return { status: 'rejected', code, detail: errors[0]?.detail ?? '' }
  }
  const { contentType, body, sha256 } = upload.image
  return { status: 'stored', content_type: contentType, bytes: body.length, sha256 }
}
