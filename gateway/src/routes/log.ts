import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogCreated } from '@intake/contract/schemas'
import { readLog, type AcceptLog } from '../accept/log.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import { jsonBody } from '../body/json-body.ts'
import { acceptRoute, type RouteOptions } from './accept-route.ts'

/**
 * Serves `POST /api/log`, which accepts one application log event.
 *
 * @param options.bodyBytesMax the maximum size of the body, both before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: RouteOptions & { acceptLog: AcceptLog; turns: Turns; bodyBytesMax: number },
): Promise<void> {
  const { acceptLog, turns, limiter, bodyBytesMax } = options
  const nodesMax = limits.jsonNodes
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, options, {
    url: '/api/log',
    kind: 'logs',
    bodyBytesMax,
    status: 201,
    schema: LogCreated,
    accept: async (request) => acceptLog(request, readLog(request)),
  })
}
