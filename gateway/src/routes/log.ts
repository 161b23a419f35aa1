import type { FastifyInstance } from 'fastify'
import { limits, LogCreated } from '@intake/contract'
import type { LogSteps } from '../accept/log.ts'
import { requireCapacity } from '../admission/admission.ts'
import { requireAllowance } from '../admission/limit-rate.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { jsonBody } from '../body/json-body.ts'
import type { RouteOptions } from './route-options.ts'

/**
 * `POST /api/log`: one application log event.
 *
 * @param options.bodyBytesMax applies before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: RouteOptions & { steps: LogSteps; bodyBytesMax: number },
): Promise<void> {
  const { accept, steps, admission, limiter, budget, turns, bodyBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax: limits.jsonNodes, turns })

  app.post(
    '/api/log',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [
        requireAllowance(limiter, 'logs'),
        requireCapacity(admission, 'logs'),
        leaseBody(budget, bodyBytesMax),
      ],
      schema: { response: { 201: LogCreated } },
    },
    whileLeased(async (request, reply) => {
      const { identified } = await accept(steps, request)
      reply.code(201)
      return { message: 'Log successfully created', id: identified.id }
    }),
  )
}
