import type { FieldError } from '@intake/contract'
import { compileCheck, FeedbackPayload } from '@intake/contract/schemas'
import { unknownFields } from './extra.ts'
import type { Extra } from './row.ts'

const isEmail = compileCheck(FeedbackPayload.properties.feedback.properties.email)
const feedbackFields: ReadonlySet<string> = new Set(['email', 'id', 'text', 'attachments'])
/**
 * The fields that count as known if the list `attachments` in the JSON is not empty. Intake does
 * not interpret such a list, so it is kept in `extra` like an unknown field.
 */
const unlessListed: ReadonlySet<string> = new Set(['email', 'id', 'text'])

/** An e-mail that its column cannot hold. */
export interface InvalidEmail {
  email: unknown
}

/** The error in the response to a feedback that has an invalid e-mail. */
export const invalidEmailErrors: FieldError[] = [
  { pointer: '/payload/feedback/email', detail: 'must be an e-mail address' },
]

/**
 * Removes the white space that phone keyboards add around an e-mail. The payload need not be valid.
 */
export function trimEmail(payload: unknown): void {
  const feedback = (payload as { feedback?: { email?: unknown } | null } | null)?.feedback
  if (typeof feedback?.email !== 'string') return
  const trimmed = feedback.email.trim()
  // An invalid e-mail is kept as it was sent.
  if (isEmail(trimmed)) feedback.email = trimmed
}

/**
 * Removes an invalid e-mail from a payload and returns it; undefined if there is none. The payload
 * need not be valid.
 */
export function takeInvalidEmail(payload: unknown): InvalidEmail | undefined {
  const feedback = (payload as { feedback?: unknown } | null)?.feedback
  if (typeof feedback !== 'object' || feedback === null || !('email' in feedback)) return undefined
  const { email } = feedback
  if (isEmail(email)) return undefined
  delete feedback.email
  return { email }
}

/**
 * Returns the fields of a feedback that have no column, and an e-mail that its column cannot hold.
 */
export function feedbackExtra(
  feedback: FeedbackPayload['feedback'],
  invalid: InvalidEmail | undefined,
): Extra {
  const isListed = (feedback.attachments?.length ?? 0) > 0
  const unknown = unknownFields(feedback, isListed ? unlessListed : feedbackFields)
  if (invalid === undefined) return unknown
  return Object.assign(Object.create(null) as Record<string, unknown>, unknown, invalid)
}
