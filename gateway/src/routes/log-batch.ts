import type { FastifyInstance } from 'fastify'
import { limits, LogBatchResult } from '@intake/contract'
import { entryResults, printBatchResult } from '../accept/batch-results.ts'
import type { BatchSteps } from '../accept/log-batch.ts'
import { requireCapacity } from '../admission/admission.ts'
import { requireAllowance } from '../admission/limit-rate.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { jsonBody } from '../body/json-body.ts'
import type { RouteOptions } from './route-options.ts'

/**
 * `POST /api/log/batch`: log events of one device. Each is accepted or rejected on its own.
 *
 * @param options.jsonBytesMax applies after decompression
 */
export async function logBatchRoute(
  app: FastifyInstance,
  options: RouteOptions & {
    steps: BatchSteps
    bodyBytesMax: number
    jsonBytesMax: number
  },
): Promise<void> {
  const { accept, steps, admission, limiter, budget, turns } = options
  const { bodyBytesMax, jsonBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.batchJsonNodes, turns })

  app.post(
    '/api/log/batch',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [
        requireAllowance(limiter, 'logs'),
        requireCapacity(admission, 'logs'),
        leaseBody(budget, bodyBytesMax),
      ],
      // The batch response has too many entries for the generic serializer.
      serializerCompiler: () => printBatchResult,
      schema: { response: { 207: LogBatchResult } },
    },
    whileLeased(async (request, reply) => {
      const { identified } = await accept(steps, request)
      const { accepted, rejected, results } = identified
      reply.code(207)
      return {
        message: 'Logs processed',
        accepted,
        rejected: rejected.length,
        results: entryResults(results),
      }
    }),
  )
}
