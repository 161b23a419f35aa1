import type { FieldError } from '@intake/contract'
import { compileCheck, FeedbackPayload } from '@intake/contract/schemas'
import { unknownFields } from './extra.ts'
import type { Extra } from './row.ts'

const isEmail = compileCheck(FeedbackPayload.properties.feedback.properties.email)
const feedbackFields: ReadonlySet<string> = new Set(['email', 'id', 'text', 'attachments'])
/**
 * If the list `attachments` is not empty: Intake does not interpret it, so it is kept in `extra`.
 */
const unlessListed: ReadonlySet<string> = new Set(['email', 'id', 'text'])

export interface InvalidEmail {
  email: unknown
}

export const invalidEmailErrors: FieldError[] = [
  { pointer: '/payload/feedback/email', detail: 'must be an e-mail address' },
]

/** Removes the white space that phone keyboards add. The payload need not be valid. */
export function trimEmail(payload: unknown): void {
  const feedback = (payload as { feedback?: { email?: unknown } | null } | null)?.feedback
  if (typeof feedback?.email !== 'string') return
  const trimmed = feedback.email.trim()
  // An invalid e-mail is kept as it was sent.
  if (isEmail(trimmed)) feedback.email = trimmed
}

/** Removes and returns an invalid e-mail. The payload need not be valid. */
export function takeInvalidEmail(payload: unknown): InvalidEmail | undefined {
  const feedback = (payload as { feedback?: unknown } | null)?.feedback
  if (typeof feedback !== 'object' || feedback === null || !('email' in feedback)) return undefined
  const { email } = feedback
  if (isEmail(email)) return undefined
  delete feedback.email
  return { email }
}

export function feedbackExtra(
  feedback: FeedbackPayload['feedback'],
  invalid: InvalidEmail | undefined,
): Extra {
  const isListed = (feedback.attachments?.length ?? 0) > 0
  const unknown = unknownFields(feedback, isListed ? unlessListed : feedbackFields)
  if (invalid === undefined) return unknown
  return Object.assign(Object.create(null) as Record<string, unknown>, unknown, invalid)
}
