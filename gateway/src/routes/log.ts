import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogCreated } from '@intake/contract/schemas'
import type { AcceptLog } from '../accept/log.ts'
import { jsonBody } from '../body/json-body.ts'
import { acceptRoute, type JsonRouteOptions } from './accept-route.ts'

/**
 * Serves `POST /api/log`, which accepts one application log event.
 *
 * @param options.bodyBytesMax the maximum size of the body, both before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: JsonRouteOptions & { acceptLog: AcceptLog },
): Promise<void> {
  const { acceptLog, turns, limiter, bodyBytesMax, budget, beforeBody } = options
  const nodesMax = limits.jsonNodes
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, beforeBody, {
    url: '/api/log',
    kind: 'logs',
    bodyBytesMax,
    budget,
    codings: ['gzip'],
    status: 201,
    schema: LogCreated,
    accept: acceptLog,
  })
}
