import type { FastifyRequest } from 'fastify'
import { IntakeError, type ErrorCode } from '@intake/contract'

/** An error of Fastify with any other code is a bug in the gateway: `internal_error`. */
const frameworkCodes: Record<string, { code: ErrorCode; detail: string }> = {
  FST_ERR_BAD_URL: { code: 'malformed_http', detail: 'The URL is malformed.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    detail: 'Log events take application/json, feedback takes multipart/form-data.',
  },
}

/** Whether the client closed the connection, or its sending side, before the whole body arrived. */
export const isGone = ({ raw }: FastifyRequest) =>
  !raw.complete && (raw.destroyed || raw.socket.readableEnded)

export function asIntakeError(error: unknown, request: FastifyRequest): IntakeError {
  if (error instanceof IntakeError) return error
  if (isGone(request)) {
    return new IntakeError('malformed_http', 'The body ended early.', { cause: error })
  }
  const code = (error as { code?: unknown }).code
  const known = typeof code === 'string' ? frameworkCodes[code] : undefined
  return known === undefined
    ? new IntakeError('internal_error', 'The error has been logged.', { cause: error })
    : new IntakeError(known.code, known.detail, { cause: error })
}
