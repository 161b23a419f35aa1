import { errorCatalogue, type IntakeError } from './errors.ts'
import type { Problem } from './schemas/problem.ts'

export const problemType = 'application/problem+json; charset=utf-8'

export function problem(error: IntakeError, requestId: string): Problem {
  const { status, title } = errorCatalogue[error.code]
  return {
    type: `urn:intake:error:${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    errors: [...error.errors],
    request_id: requestId,
    ...error.members,
  }
}
