import { isLeftOut, type Ruling } from '@intake/access'
import type { AttachmentResult, FeedbackCreated, FeedbackPayload } from '@intake/contract/schemas'
import type { FastifyRequest } from 'fastify'
import { clientIdKey, type IdempotencyStore } from '@intake/identity'
import type { ObjectStore } from '@intake/object-store'
import { rowJson } from '@intake/json'
import type { RequestSize } from '../admission/limits.ts'
import { commitWithImages } from '../commit/commit-with-images.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { FeedbackForm } from '../form/feedback-form.ts'
import type { Image, Upload } from '../form/upload.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { fingerprintOf } from '../identity/idempotency-key.ts'
import { joinExtra, submissionFields, unknownFields } from '../record/extra.ts'
import { feedbackExtra, invalidEmailErrors } from '../record/feedback-fields.ts'
import { feedbackRow, senderColumns, type Extra, type RequestContext } from '../record/row.ts'
import type { Settled } from '../report/outcomes.ts'
import type { Acceptance } from './acceptance.ts'
import { editExtra, editSender } from './apply-rules.ts'

const knownFields = submissionFields('feedback')
const noFields: ReadonlySet<string> = new Set()

/** Returns a function that accepts a feedback: it stores the images, then the row. */
export function createAcceptFeedback(options: {
  acceptance: Acceptance
  feedback: GroupCommit
  idempotency: IdempotencyStore
  store: Pick<ObjectStore, 'put' | 'remove'>
}) {
  const { acceptance, feedback: rows, idempotency, store } = options

  return async (request: FastifyRequest, form: FeedbackForm): Promise<Settled<FeedbackCreated>> => {
    const { payload } = form
    const admitted = acceptance.admit(request, payload, sizeOf(form))
    const { context, key, rules } = admitted
    const images = imagesOf(form)
    const ruling = rules?.judge(undefined)
    const { retentionMs, deadline } = acceptance.terms(admitted)
    const { id } = payload.feedback
    const clientId = id == null ? undefined : clientIdKey(id)
    const identity = await assignIdentity({
      store: idempotency,
      scope: 'feedback',
      apiKeyId: context.apiKeyId,
      sender: payload,
      clientId,
      key,
      nowMs: context.receivedAtMs,
      timeMs: () => context.receivedAtMs,
      retentionMs,
      fingerprint: () => fingerprintOf(feedbackContent(payload, images)),
      deadline,
    })
    const isLeft = ruling !== undefined && isLeftOut(ruling)
    if (acceptance.isStored(admitted) && !isLeft) {
      await commitWithImages({
        store,
        identity,
        images,
        repeatable: (key ?? clientId) !== undefined,
        log: request.log,
        requestId: context.requestId,
        commit: (attachments) =>
          rows.append(
            [feedbackRow(identity, { ...columnsOf(form, context, ruling), attachments, context })],
            // The time for storing the row starts after the images are stored, because storing
            // images may take longer.
            acceptance.terms(admitted).deadline,
          ),
      })
    }
    return acceptance.settle(admitted, [{ ruling }], createdOf(form, identity.id))
  }
}

function sizeOf({ uploads, textBytes }: FeedbackForm): RequestSize {
  const attachmentBytes = uploads.reduce((sum, { bytes }) => sum + bytes, 0)
  return { kind: 'feedback', records: 1, attachmentBytes, bytes: textBytes + attachmentBytes }
}

function createdOf({ uploads, omitted, invalidEmail }: FeedbackForm, id: string): FeedbackCreated {
  return {
    message: 'Feedback successfully created',
    id,
    attachments: uploads.map(attachmentResult),
    ...(omitted && { omitted_text_parts: omitted }),
    ...(invalidEmail && { invalid_fields: invalidEmailErrors }),
  }
}

function attachmentResult(upload: Upload): AttachmentResult {
  if ('refusal' in upload) {
    const { code, errors } = upload.refusal
    return { status: 'rejected', code, detail: errors[0]?.detail ?? '' }
  }
  const { contentType, body, sha256 } = upload.image
  return { status: 'stored', content_type: contentType, bytes: body.length, sha256 }
}

/** @throws {IntakeError} for the first part that cannot be stored, if the form is not lenient */
function imagesOf({ uploads, isLenient }: FeedbackForm): Image[] {
  return uploads.flatMap((upload: Upload) => {
    if ('image' in upload) return [upload.image]
    if (isLenient) return []
    throw upload.refusal
  })
}

/** The content that identifies a feedback: a retry must have the same. */
function feedbackContent(payload: FeedbackPayload, images: Image[]): unknown[] {
  const { bundle_identifier: bundle, unique_user_id: user, feedback } = payload
  return [
    bundle,
    user,
    feedback.email ?? '',
    feedback.text,
    images.map(({ sentSha256 }) => sentSha256),
  ]
}

/** Prints the columns of the sender and `extra`, after the edits of the rules. */
function columnsOf(form: FeedbackForm, context: RequestContext, ruling: Ruling | undefined) {
  const { payload, print } = form
  const { feedback } = payload
  const extra = extraOf(form)
  return ruling === undefined
    ? {
        feedback,
        print,
        sender: senderColumns(context, payload, print),
        extra: extra && rowJson(extra),
      }
    : {
        feedback,
        print: rowJson,
        sender: senderColumns(context, editSender(payload, ruling), rowJson),
        extra: editExtra(extra, ruling),
      }
}

function extraOf({ payload, fields, omitted, invalidEmail }: FeedbackForm): Extra {
  const inFeedback = feedbackExtra(payload.feedback, invalidEmail)
  const inPayload = joinExtra(unknownFields(payload, knownFields), 'feedback', inFeedback)
  const inForm = joinExtra(inPayload, 'form', unknownFields(fields, noFields))
  return joinExtra(inForm, 'form_omitted', omitted && { ...omitted })
}
