import type { FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'

/** Returns the content coding of a body, in lower case; undefined when it has none. */
export function contentCoding(request: FastifyRequest): string | undefined {
  const coding = request.headers['content-encoding']?.toLowerCase()
  if (coding === 'identity') return undefined
  return coding === 'x-gzip' ? 'gzip' : coding
}

/** @throws {IntakeError} `unsupported_encoding` */
export function requireCoding(
  request: FastifyRequest,
  reply: FastifyReply,
  codings: readonly string[],
): void {
  const coding = contentCoding(request)
  if (coding === undefined || codings.includes(coding)) return
  const accepted = codings.join(', ') || 'identity'
  reply.header('accept-encoding', accepted)
  throw new IntakeError('unsupported_encoding', `Accepted content codings: ${accepted}.`)
}
