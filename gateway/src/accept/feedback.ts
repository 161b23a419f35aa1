import type { FastifyBaseLogger } from 'fastify'
import type { FeedbackPayload } from '@intake/contract'
import { clientIdKey } from '@intake/identity'
import { systemClock, type Clock } from '@intake/runtime'
import type { FeedbackForm } from '../form/feedback-form.ts'
import type { Image } from '../form/upload.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { fingerprintOf } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { GatewayPorts } from '../ports.ts'
import { joinExtra, submissionFields, unknownFields } from '../record/extra.ts'
import { feedbackExtra, type InvalidEmail } from '../record/feedback-fields.ts'
import { feedbackRow, senderColumns, type Extra, type RequestContext } from '../record/row.ts'
import { commitWithImages } from '../commit/commit-with-images.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { OutcomeCounts } from '../report/outcome-counts.ts'

const knownFields = submissionFields('feedback')
const noFields: ReadonlySet<string> = new Set()

/** A valid feedback, read to its end. */
export interface Feedback extends Pick<FeedbackForm, 'payload' | 'fields' | 'omitted'> {
  images: Image[]
  invalidEmail: InvalidEmail | undefined
}

/**
 * Accepts a feedback; resolves to its id when its images are stored and Redis has confirmed its row. Nothing
 * is stored of a suppressed sender.
 *
 * @param request.key the `Idempotency-Key`
 * @throws {IntakeError} when nothing is stored, or the outcome is unknown
 */
export type AcceptFeedback = (request: {
  form: Feedback
  key: string | undefined
  context: RequestContext
  log: FastifyBaseLogger
}) => Promise<string>

export function createAcceptFeedback(options: {
  feedback: GroupCommit
  outcomes: Pick<OutcomeCounts, 'count'>
  idempotency: IdempotencyStore
  store: GatewayPorts['attachments']
  policy: GatewayPorts['policy']
  enqueueTimeoutMs: number
  clock?: Clock
}): AcceptFeedback {
  const { feedback: rows, outcomes, idempotency, store, policy, enqueueTimeoutMs } = options
  const { clock = systemClock } = options

  return async ({ form, key, context, log }) => {
    const { payload, images } = form
    const { feedback } = payload
    const { apiKeyId, receivedAtMs } = context
    const outcome = { apiKeyId, kind: 'feedback', atMs: receivedAtMs, records: 1 } as const
    const clientId = clientIdKey(feedback.id)
    const identity = await assignIdentity({
      store: idempotency,
      scope: 'feedback',
      apiKeyId,
      sender: payload,
      clientId,
      key,
      nowMs: receivedAtMs,
      timeMs: receivedAtMs,
      retentionMs: policy.retentionMs('feedback'),
      fingerprint: () => fingerprintOf(feedbackContent(payload, images)),
      deadline: clock.now() + enqueueTimeoutMs,
    })
    if (policy.isSuppressed(payload)) {
      outcomes.count({ ...outcome, code: 'suppressed' })
      return identity.id
    }
    const sender = senderColumns(context, payload)
    const extra = extraOf(form)
    await commitWithImages({
      store,
      identity,
      images,
      repeatable: (key ?? clientId) !== undefined,
      log,
      requestId: context.requestId,
      commit: (attachments) =>
        rows.append(
          feedbackRow(identity, sender, { feedback, attachments, extra, context }),
          clock.now() + enqueueTimeoutMs,
        ),
    })
    outcomes.count({ ...outcome, code: 'accepted' })
    return identity.id
  }
}

/** What makes a feedback another one. */
function feedbackContent(payload: FeedbackPayload, images: Image[]): unknown[] {
  const { bundle_identifier: bundle, unique_user_id: user, feedback } = payload
  return [bundle, user, feedback.email ?? '', feedback.text, images.map(({ sha256 }) => sha256)]
}

function extraOf({ payload, fields, omitted, invalidEmail }: Feedback): Extra {
  const inFeedback = feedbackExtra(payload.feedback, invalidEmail)
  const inPayload = joinExtra(unknownFields(payload, knownFields), 'feedback', inFeedback)
  const inForm = joinExtra(inPayload, 'form', unknownFields(fields, noFields))
  return joinExtra(inForm, 'form_omitted', omitted && { ...omitted })
}
