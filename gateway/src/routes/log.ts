import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogCreated } from '@intake/contract/schemas'
import type { LogSteps } from '../accept/log.ts'
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
  options: RouteOptions & { steps: LogSteps; turns: Turns; bodyBytesMax: number },
): Promise<void> {
  const { steps, turns, limiter, bodyBytesMax } = options
  const nodesMax = limits.jsonNodes
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, options, {
    url: '/api/log',
    steps,
    bodyBytesMax,
    status: 201,
    schema: LogCreated,
    respond: ({ identified }) => ({ message: 'Log successfully created', id: identified.id }),
  })
}
