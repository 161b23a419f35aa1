import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogBatchResult } from '@intake/contract/schemas'
import { entryResults, printBatchResult } from '../accept/batch-results.ts'
import type { BatchSteps } from '../accept/log-batch.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import { jsonBody } from '../body/json-body.ts'
import { acceptRoute, type RouteOptions } from './accept-route.ts'

/**
 * Serves `POST /api/log/batch`, which accepts or rejects each of several log events of one device.
 *
 * @param options.jsonBytesMax the maximum size of the JSON after decompression
 */
export async function logBatchRoute(
  app: FastifyInstance,
  options: RouteOptions & {
    steps: BatchSteps
    turns: Turns
    bodyBytesMax: number
    jsonBytesMax: number
  },
): Promise<void> {
  const { steps, turns, limiter, bodyBytesMax, jsonBytesMax } = options
  const nodesMax = limits.batchJsonNodes
  await app.register(jsonBody, { jsonBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, options, {
    url: '/api/log/batch',
    steps,
    bodyBytesMax,
    status: 207,
    schema: LogBatchResult,
    respond({ identified: { accepted, rejected, results } }) {
      return {
        message: 'Logs processed',
        accepted,
        rejected: rejected.length,
        results: entryResults(results),
      }
    },
    // Fastify's serializer of the schema is too slow for a response with many entries.
    print: printBatchResult,
  })
}
