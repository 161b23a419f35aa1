import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { IntakeError } from '@intake/contract'

/** Refuses compressed bodies before they are read. */
export const refuseContentEncoding = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const encoding = request.headers['content-encoding']
      if (encoding === undefined || encoding === 'identity') done()
      else
        done(new IntakeError('unsupported_encoding', 'Send the body without a content encoding.'))
    })
  },
  { name: 'refuse-content-encoding' },
)
