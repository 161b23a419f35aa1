import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { IntakeError } from '@intake/contract'

/** The content coding of a body that may be compressed. */
export const gzipCoding = 'gzip'

/**
 * Refuses a body with a content coding that the routes of this scope do not take, before a byte of
 * it is read.
 */
export const contentEncoding = fp(
  async (app: FastifyInstance, options: { accepted: string[] }) => {
    const accepted = options.accepted.join(', ') || 'identity'
    app.addHook('onRequest', (request, reply, done) => {
      const encoding = request.headers['content-encoding']?.toLowerCase()
      if (
        encoding === undefined ||
        encoding === 'identity' ||
        options.accepted.includes(encoding)
      ) {
        done()
        return
      }
      reply.header('accept-encoding', accepted)
      done(new IntakeError('unsupported_encoding', `Accepted content codings: ${accepted}.`))
    })
  },
  { name: 'content-encoding' },
)
