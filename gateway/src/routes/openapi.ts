import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '@intake/contract/openapi'
import { preparedRoute } from './prepared.ts'

/** Serves `GET /openapi.json`, the document from which clients can be generated. */
export function openapiRoute(
  app: FastifyInstance,
  options: Parameters<typeof openApiDocument>[0],
): void {
  const body = Buffer.from(JSON.stringify(openApiDocument(options)))
  preparedRoute(app, '/openapi.json', { type: 'application/json', body })
}
