import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'

/** Returns the content coding of a body, in lower case; undefined when it has none. */
export function contentCoding(request: FastifyRequest): string | undefined {
  const coding = request.headers['content-encoding']?.toLowerCase()
  if (coding === 'identity') return undefined
  return coding === 'x-gzip' ? 'gzip' : coding
}

/**
 * Refuses a body with a content coding that the routes of this scope do not accept, before the body
 * is read.
 */
export const contentEncoding = fp(
  async (app: FastifyInstance, options: { accepted: string[] }) => {
    const accepted = options.accepted.join(', ') || 'identity'
    app.addHook('onRequest', (request, reply, done) => {
      const coding = contentCoding(request)
      if (coding === undefined || options.accepted.includes(coding)) {
        done()
        return
      }
      reply.header('accept-encoding', accepted)
      done(new IntakeError('unsupported_encoding', `Accepted content codings: ${accepted}.`))
    })
  },
  { name: 'content-encoding' },
)
