import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IntakeError, limits } from '@intake/contract'
import { parseJson } from '../json.ts'

/** Accepts `application/json` in UTF-8. */
export const jsonBody = fp(
  async (app: FastifyInstance) => {
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: limits.logBodyBytes },
      async (request: FastifyRequest, body: Buffer) => {
        const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(
          request.headers['content-type'] ?? '',
        )
        if (charset?.[1] !== undefined && charset[1].toLowerCase() !== 'utf-8') {
          throw new IntakeError('unsupported_media_type', 'Send the JSON in UTF-8.')
        }
        return parseJson(body)
      },
    )
  },
  { name: 'json-body' },
)
