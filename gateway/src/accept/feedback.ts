import type { Ruling } from '@intake/access'
import { compileSchema, FeedbackPayload } from '@intake/contract/schemas'
import type { FastifyRequest } from 'fastify'
import { formBytesMax } from '@intake/config'
import { clientIdKey, type Identity } from '@intake/identity'
import type { ObjectStore } from '@intake/object-store'
import type { Clock } from '@intake/runtime'
import type { Turns } from '../admission/fairness/turns.ts'
import { commitWithImages } from '../commit/commit-with-images.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import { readFeedbackForm, type FeedbackForm } from '../form/feedback-form.ts'
import type { AttachmentRules, Image, Upload } from '../form/upload.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { fingerprintOf } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { joinExtra, submissionFields, unknownFields } from '../record/extra.ts'
import {
  feedbackExtra,
  takeInvalidEmail,
  trimEmail,
  type InvalidEmail,
} from '../record/feedback-fields.ts'
import type { RequestContext } from '../record/request-context.ts'
import { rowJson } from '../record/row-json.ts'
import { feedbackRow, senderColumns, type Extra } from '../record/row.ts'
import { tallyOne, type Steps } from './accept.ts'
import { editExtra, editSender } from './apply-rules.ts'

const validatePayload = compileSchema(FeedbackPayload)
const knownFields = submissionFields('feedback')
const noFields: ReadonlySet<string> = new Set()

/** A feedback form that has been read to its end and has a valid payload. */
export interface Feedback extends FeedbackForm {
  /**
   * Whether images that cannot be stored are left out. If false, one such image causes the whole
   * form to be refused.
   */
  isLenient: boolean
  invalidEmail: InvalidEmail | undefined
}

interface PreparedFeedback {
  images: Image[]
  /** What the rules decide about the feedback; undefined if no rule applies. */
  ruling: Ruling | undefined
}

export type FeedbackSteps = Steps<Feedback, PreparedFeedback, Identity>

/** Creates the steps that accept a feedback. Its images are stored before its row. */
export function createFeedbackSteps(options: {
  feedback: GroupCommit
  idempotency: IdempotencyStore
  store: Pick<ObjectStore, 'put' | 'remove'>
  turns: Turns
  attachments: AttachmentRules
  enqueueTimeoutMs: number
  clock: Pick<Clock, 'now'>
}): FeedbackSteps {
  const { feedback: rows, idempotency, store, enqueueTimeoutMs, clock } = options
  return {
    kind: 'feedback',
    read: (request) => readFeedback(request, options),
    senderOf: ({ payload }) => payload,
    sizeOf({ uploads, textBytes }) {
      const attachmentBytes = uploads.reduce((sum, { bytes }) => sum + bytes, 0)
      return {
        kind: 'feedback',
        records: 1,
        attachmentBytes,
        bytes: textBytes + attachmentBytes,
      }
    },
    prepare: (form, { rules }) => ({ images: imagesOf(form), ruling: rules?.judge(undefined) }),

    identify({ payload }, { images }, { context, key, retentionMs, deadline }) {
      return assignIdentity({
        store: idempotency,
        scope: 'feedback',
        apiKeyId: context.apiKeyId,
        sender: payload,
        clientId: clientIdKey(payload.feedback.id),
        key,
        nowMs: context.receivedAtMs,
        timeMs: () => context.receivedAtMs,
        retentionMs,
        fingerprint: () => fingerprintOf(feedbackContent(payload, images)),
        deadline,
      })
    },

    store(form, { images, ruling }, identity, { request, context, key }) {
      if (ruling !== undefined && ruling.outcome !== 'accepted') return Promise.resolve()
      const { feedback } = form.payload
      const { sender, extra } = columnsOf(form, context, ruling)
      return commitWithImages({
        store,
        identity,
        images,
        repeatable: (key ?? clientIdKey(feedback.id)) !== undefined,
        log: request.log,
        requestId: context.requestId,
        commit: (attachments) =>
          rows.append(
            feedbackRow(identity, sender, { feedback, attachments, extra, context }),
            // The time for storing the row starts after the images are stored, because storing
            // images may take longer than `enqueueTimeoutMs`.
            clock.now() + enqueueTimeoutMs,
          ),
      })
    },

    tally: ({ ruling }) => tallyOne(ruling),
  }
}

async function readFeedback(
  request: FastifyRequest,
  { turns, attachments }: { turns: Turns; attachments: AttachmentRules },
): Promise<Feedback> {
  const lenient = isLenient(request)
  let invalidEmail: InvalidEmail | undefined
  const form = await readFeedbackForm(request, {
    validate(sent, root) {
      trimEmail(sent)
      if (lenient) invalidEmail = takeInvalidEmail(sent)
      return validatePayload(sent, root)
    },
    turns,
    attachments,
    // A lenient form has no maximum size: its oversized files are discarded, and its text is
    // stored.
    bytesMax: lenient ? Infinity : formBytesMax(attachments.bytesMax),
  })
  return { ...form, isLenient: lenient, invalidEmail }
}

/**
 * Whether the request has `Prefer: handling=lenient` (RFC 7240). If it has, parts of the form that
 * cannot be stored are left out.
 */
export function isLenient(request: FastifyRequest): boolean {
  const prefer = request.headers['prefer']
  return /(^|[,;\s])handling\s*=\s*"?lenient"?\s*([,;]|$)/i.test(String(prefer ?? ''))
}

/**
 * Returns the images of a form. If the form is lenient, file parts that cannot be stored are left
 * out.
 *
 * @throws {IntakeError} for the first such part, if the form is not lenient
 */
function imagesOf({ uploads, isLenient: lenient }: Feedback): Image[] {
  return uploads.flatMap((upload: Upload) => {
    if ('image' in upload) return [upload.image]
    if (lenient) return []
    throw upload.refusal
  })
}

/**
 * Returns the content that identifies a feedback. A retry must have the same content as the first
 * attempt; a feedback with other content is a different one.
 */
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

/** Applies the edits of the rules, then prints the columns of the sender and the `extra` column. */
function columnsOf(form: Feedback, context: RequestContext, ruling: Ruling | undefined) {
  const { payload, isPlain } = form
  const extra = extraOf(form)
  if (ruling === undefined) {
    return { sender: senderColumns(context, payload, isPlain), extra: extra && rowJson(extra) }
  }
  return {
    sender: senderColumns(context, editSender(payload, ruling)),
    extra: editExtra(extra, ruling),
  }
}

function extraOf({ payload, fields, omitted, invalidEmail }: Feedback): Extra {
  const inFeedback = feedbackExtra(payload.feedback, invalidEmail)
  const inPayload = joinExtra(unknownFields(payload, knownFields), 'feedback', inFeedback)
  const inForm = joinExtra(inPayload, 'form', unknownFields(fields, noFields))
  return joinExtra(inForm, 'form_omitted', omitted && { ...omitted })
}
