import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogBatchResult } from '@intake/contract/schemas'
import { printBatchResult } from '../accept/batch-results.ts'
import { readBatch, type AcceptBatch } from '../accept/log-batch.ts'
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
    acceptBatch: AcceptBatch
    turns: Turns
    bodyBytesMax: number
    jsonBytesMax: number
  },
): Promise<void> {
  const { acceptBatch, turns, limiter, bodyBytesMax, jsonBytesMax } = options
  const nodesMax = limits.batchJsonNodes
  await app.register(jsonBody, { jsonBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, options, {
    url: '/api/log/batch',
    kind: 'logs',
    bodyBytesMax,
    status: 207,
    schema: LogBatchResult,
    accept: async (request) => acceptBatch(request, readBatch(request)),
    // Fastify's serializer of the schema is too slow for a response with many entries.
    print: printBatchResult,
  })
}
