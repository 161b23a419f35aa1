import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'
import { formBytesMax } from '@intake/config'
import { FeedbackCreated, type AttachmentResult } from '@intake/contract'
import { isLenient, type FeedbackSteps } from '../accept/feedback.ts'
import { requireCapacity } from '../admission/admission.ts'
import { requireAllowance } from '../admission/limit-rate.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { contentEncoding } from '../body/content-encoding.ts'
import { multipartOptions } from '../form/feedback-form.ts'
import type { Upload } from '../form/upload.ts'
import { invalidEmailErrors } from '../record/feedback-fields.ts'
import type { RouteOptions } from './route-options.ts'

/** `POST /api/feedback`: a feedback text with up to four images. */
export async function feedbackRoute(
  app: FastifyInstance,
  options: Omit<RouteOptions, 'turns'> & { steps: FeedbackSteps; attachmentBytesMax: number },
): Promise<void> {
  const { accept, steps, admission, limiter, budget, attachmentBytesMax } = options
  await app.register(contentEncoding, { accepted: [] })
  await app.register(multipart, multipartOptions(attachmentBytesMax))

  app.post(
    '/api/feedback',
    {
      onRequest: [
        requireAllowance(limiter, 'feedback'),
        requireCapacity(admission, 'feedback'),
        leaseBody(budget, formBytesMax(attachmentBytesMax), isLenient),
      ],
      schema: { response: { 201: FeedbackCreated } },
    },
    whileLeased(async (request, reply) => {
      const { submission, identified } = await accept(steps, request)
      const { uploads, omitted, invalidEmail } = submission
      reply.code(201)
      return {
        message: 'Feedback successfully created',
        id: identified.id,
        attachments: uploads.map(attachmentResult),
        ...(omitted && { omitted_text_parts: omitted }),
        ...(invalidEmail && { invalid_fields: invalidEmailErrors }),
      }
    }),
  )
}

function attachmentResult(upload: Upload): AttachmentResult {
  if ('refusal' in upload) {
    const { code, errors } = upload.refusal
    return { status: 'rejected', code, detail: errors[0]?.detail ?? '' }
  }
  const { contentType, body, sha256 } = upload.image
  return { status: 'stored', content_type: contentType, bytes: body.length, sha256 }
}
