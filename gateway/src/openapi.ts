import type { SwaggerOptions } from '@fastify/swagger'

/** The head of the OpenAPI document; its operations come from the schemas of the routes. */
export const openapi: SwaggerOptions = {
  hideUntagged: true,
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Intake',
      version: '0.1.0',
      description:
        'Accepts user feedback and application log events. Retry only on network errors and on ' +
        '408, 429, 502, 503 and 504, after Retry-After. 503 means: not stored, except with the ' +
        'code `outcome_unknown`.',
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    },
  },
}
