import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { formBytesMax } from '@intake/config'
import {
  compileSchema,
  FeedbackCreated,
  FeedbackForm,
  FeedbackPayload,
  limits,
  type AttachmentResult,
} from '@intake/contract'
import { requireCapacity, type Admission } from '../admission/admission.ts'
import { createAcceptFeedback } from '../accept/feedback.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import { multipartOptions, readFeedbackForm } from '../form/feedback-form.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import { idempotencyKey } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { documentHeaders } from './openapi.ts'
import { authorizeBundle } from '../accept/authorize-bundle.ts'
import { makeWellFormed } from '../accept/well-formed-sender.ts'
import { contentEncoding } from '../body/content-encoding.ts'
import type { OutcomeCounts } from '../report/outcome-counts.ts'
import type { GatewayPorts } from '../ports.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import type { Upload } from '../form/upload.ts'
import { errorResponses } from './error-responses.ts'
import type { ContextOf } from '../accept/request-context.ts'
import {
  invalidEmailErrors,
  takeInvalidEmail,
  trimEmail,
  type InvalidEmail,
} from '../record/feedback-fields.ts'

const validatePayload = compileSchema(FeedbackPayload)

/** `POST /api/feedback`: a feedback text with up to four images. */
export async function feedbackRoute(
  app: FastifyInstance,
  options: {
    feedback: GroupCommit
    outcomes: Pick<OutcomeCounts, 'count'>
    admission: Admission
    contextOf: ContextOf
    idempotency: IdempotencyStore
    budget: ByteBudget
    turns: Turns
    store: GatewayPorts['attachments']
    policy: GatewayPorts['policy']
    enqueueTimeoutMs: number
    attachmentBytesMax: number
  },
): Promise<void> {
  const { admission, contextOf, budget, turns, attachmentBytesMax } = options
  const acceptFeedback = createAcceptFeedback(options)
  await app.register(contentEncoding, { accepted: [] })
  await app.register(multipart, multipartOptions(attachmentBytesMax))

  app.post(
    '/api/feedback',
    {
      onRequest: [
        requireCapacity(admission, 'feedback'),
        leaseBody(budget, formBytesMax(attachmentBytesMax), isLenient),
      ],
      // The form is a stream here; its parts are checked as they arrive.
      validatorCompiler: () => () => true,
      config: documentHeaders('idempotency-key', 'prefer'),
      schema: {
        operationId: 'createFeedback',
        summary: 'Submit user feedback',
        description:
          `Each attachment has at most ${attachmentBytesMax} bytes, the payload ` +
          `${limits.payloadBytes} bytes and ${limits.jsonNodes} members and elements.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        consumes: ['multipart/form-data'],
        body: FeedbackForm,
        response: { 201: FeedbackCreated, ...errorResponses },
      },
    },
    whileLeased(async (request, reply) => {
      const { apiKey } = request
      let invalidEmail: InvalidEmail | undefined
      const { payload, uploads, fields, omitted } = await readFeedbackForm(request, {
        validate(sent, root) {
          trimEmail(sent)
          if (isLenient(request)) invalidEmail = takeInvalidEmail(sent)
          return validatePayload(sent, root)
        },
        turns,
        attachmentBytesMax,
        // Files that are too large are discarded from a lenient form, so that its text can be kept.
        bytesMax: isLenient(request) ? Infinity : formBytesMax(attachmentBytesMax),
      })
      makeWellFormed(payload)
      authorizeBundle(apiKey, payload.bundle_identifier)
      if (!isLenient(request)) refuseAny(uploads)
      const images = uploads.flatMap((upload) => ('image' in upload ? [upload.image] : []))
      const id = await acceptFeedback({
        form: { payload, images, fields, omitted, invalidEmail },
        key: idempotencyKey(request),
        context: contextOf(request),
        log: request.log,
      })
      reply.code(201)
      return {
        message: 'Feedback successfully created',
        id,
        attachments: uploads.map(verdict),
        ...(omitted && { omitted_text_parts: omitted }),
        ...(invalidEmail && { invalid_fields: invalidEmailErrors }),
      }
    }),
  )
}

/**
 * `Prefer: handling=lenient` (RFC 7240): keep the feedback, leave out the parts that cannot be kept.
 */
function isLenient(request: FastifyRequest): boolean {
  const prefer = request.headers['prefer']
  return /(^|[,;\s])handling\s*=\s*"?lenient"?\s*([,;]|$)/i.test(String(prefer ?? ''))
}

function refuseAny(uploads: Upload[]): void {
  for (const upload of uploads) if ('refusal' in upload) throw upload.refusal
}

function verdict(upload: Upload): AttachmentResult {
  if ('refusal' in upload) {
    const { code, errors } = upload.refusal
    return { status: 'rejected', code, detail: errors[0]?.detail ?? '' }
  }
  const { contentType, body, sha256 } = upload.image
  return { status: 'stored', content_type: contentType, bytes: body.length, sha256 }
}
