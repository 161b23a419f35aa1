import { readFileSync } from 'node:fs'
import swagger, { type FastifyDynamicSwaggerOptions, type SwaggerTransform } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { keptFor, limits } from '@intake/contract'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
const { version } = JSON.parse(manifest) as { version: string }

/** The header of the OpenAPI document; its operations come from the schemas of the routes. */
const openapi: FastifyDynamicSwaggerOptions = {
  hideUntagged: true,
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Intake',
      version,
      description:
        'Accepts user feedback and application log events. Retry only on network errors and on ' +
        '408, 429, 502, 503 and 504, after Retry-After. 503 means not stored, except with the ' +
        'code `outcome_unknown`. 500 is a fault of Intake; the record may or may not be stored: ' +
        'retry at most three times. Lengths of texts are Unicode code points.',
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    },
  },
}

/**
 * Serves the OpenAPI document at `/openapi.json`. Register it before the routes that it describes.
 */
export async function openapiRoute(app: FastifyInstance): Promise<void> {
  await app.register(swagger, openapi)
  let document = Buffer.alloc(0)
  app.addHook('onReady', (done) => {
    document = Buffer.from(JSON.stringify(app.swagger()))
    done()
  })
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(document))
}

const requestHeaders = {
  'idempotency-key': {
    type: 'string',
    minLength: 1,
    maxLength: limits.identifierLength,
    description:
      'The same for every attempt to send the same record or batch: the record is stored once within ' +
      `${keptFor.logs}, feedback within ${keptFor.feedback}. The key of a batch covers all entries, and identifies those ` +
      'without an `id`. Other content, or another id, under the same key from the same application ' +
      'and device is refused.',
  },
  'content-encoding': {
    type: 'string',
    enum: ['gzip', 'identity'],
    description: 'How the body is compressed.',
  },
  prefer: {
    type: 'string',
    description:
      '`handling=lenient`: attachments that are too large, too many or not images are left out, ' +
      'an invalid e-mail is kept only in `extra`, and the rest is stored; the response has the result ' +
      'of each.',
  },
}

const rateHeaders = {
  'x-ratelimit-limit': {
    type: 'integer',
    description: 'Requests that the API key may send in a window, to all gateways together.',
  },
  'x-ratelimit-remaining': {
    type: 'integer',
    description: 'How many of them remain, as far as this gateway knows.',
  },
  'x-ratelimit-reset': { type: 'integer', description: 'Seconds until the window ends.' },
}

/**
 * Documents the headers that an operation reads, and those of its responses. It does not validate
 * them; each header is validated where it is read. A response has the `x-ratelimit-*` headers once
 * the API key has been found valid.
 */
export function documentHeaders(...names: (keyof typeof requestHeaders)[]): {
  swaggerTransform: SwaggerTransform
} {
  const properties = Object.fromEntries(names.map((name) => [name, requestHeaders[name]]))
  const headers = { type: 'object', properties }
  return {
    swaggerTransform({ schema, url }) {
      const responses = Object.entries(schema.response as Record<string, object>)
      const response = Object.fromEntries(
        responses.map(([status, one]) => [status, { ...one, headers: rateHeaders }]),
      )
      return { schema: { ...schema, headers, response }, url }
    },
  }
}
