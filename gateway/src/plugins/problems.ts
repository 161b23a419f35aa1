import fp from 'fastify-plugin'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, IntakeError, type ErrorCode, type Problem } from '@intake/contract'
import type { GatewayMetrics } from '../metrics.ts'

/** What the framework and its plugins throw, by their code. Anything else is a fault of ours. */
const frameworkCodes: Record<string, { code: ErrorCode; detail: string }> = {
  FST_ERR_BAD_URL: { code: 'malformed_http', detail: 'The URL is malformed.' },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body_too_large', detail: 'Send a smaller body.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'malformed_http',
    detail: 'The body does not have the length that Content-Length says.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    detail: 'See the documentation for the content type of this operation.',
  },
}

export const problemType = 'application/problem+json; charset=utf-8'

/** Seconds after which a client may try again, when that is not soon; others wait one second. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  queue_full: 30,
  keys_full: 60,
  clock_skew: 5,
  queue_unavailable: 5,
  storage_unavailable: 5,
}

/** The one place that turns errors into answers. */
export const problems = fp(
  async (app: FastifyInstance, options: { metrics: GatewayMetrics }) => {
    const takeWarning = limitWarnings()
    const answer = (error: IntakeError, request: FastifyRequest, reply: FastifyReply) => {
      options.metrics.refused(error.code)
      // Fastify would end the connection after a body that its parser has refused, which has been read or
      // is read past. On `raw` the header has other reasons, and removing it here removes it there too.
      if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) {
        reply.removeHeader('connection')
      }
      logRefusal(error, request, takeWarning)
      return sendProblem(error, request, reply)
    }
    app.setErrorHandler((error, request, reply) =>
      answer(asIntakeError(error, request), request, reply),
    )
    app.setNotFoundHandler((request, reply) => answer(noRoute(app, request, reply), request, reply))
  },
  { name: 'problems' },
)

/** Answers requests whose URL the router cannot read. */
export function answerFrameworkErrors(metrics: GatewayMetrics) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = asIntakeError(error, request)
    metrics.refused(refusal.code)
    logRefusal(refusal, request, () => true)
    void sendProblem(refusal, request, reply)
  }
}

/** The body of an error answer. */
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

function sendProblem(
  error: IntakeError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { retryable, status } = errorCatalogue[error.code]
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  if (retryable && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', String(spread(retryAfterSeconds[error.code] ?? 1)))
  }
  return reply
    .code(status)
    .type(problemType)
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problem(error, request.id))
}

function logRefusal(
  error: IntakeError,
  request: FastifyRequest,
  takeWarning: (code: ErrorCode) => boolean,
): void {
  const { code, status } = error
  const requestId = request.id
  if (code === 'internal_error') {
    request.log.error({ err: error, requestId }, 'unexpected error')
  } else if (code === 'outcome_unknown' || (status >= 500 && takeWarning(code))) {
    request.log.warn({ err: error, requestId }, 'request refused')
  } else {
    request.log.debug({ code, requestId }, 'request refused')
  }
}

const warningPauseMs = 1_000

/**
 * Allows one warning a second for each code. Without Redis every request is refused, and a line for each
 * would cost more than the refusal; the metric counts them all.
 */
function limitWarnings(): (code: ErrorCode) => boolean {
  const warnedAt = new Map<ErrorCode, number>()
  return (code) => {
    const now = performance.now()
    if (now - (warnedAt.get(code) ?? -Infinity) < warningPauseMs) return false
    warnedAt.set(code, now)
    return true
  }
}

/** Up to twice as long, so that a fleet that was refused together does not come back together. */
function spread(seconds: number): number {
  return Math.ceil(seconds * (seconds === 1 ? 1 : 1 + Math.random()))
}

function asIntakeError(error: unknown, request: FastifyRequest): IntakeError {
  if (error instanceof IntakeError) return error
  if (request.raw.destroyed && !request.raw.complete) {
    return new IntakeError('malformed_http', 'The body ended early.', { cause: error })
  }
  const code = (error as { code?: unknown }).code
  const known = typeof code === 'string' ? frameworkCodes[code] : undefined
  return known === undefined
    ? new IntakeError('internal_error', 'The error has been logged.', { cause: error })
    : new IntakeError(known.code, known.detail, { cause: error })
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function noRoute(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): IntakeError {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed = methods.filter((method) => app.hasRoute({ method, url: path }))
  if (allowed.length === 0) return new IntakeError('not_found', 'There is nothing at this path.')
  reply.header('allow', allowed.join(', '))
  return new IntakeError('method_not_allowed', 'The Allow header lists the methods of this path.')
}
