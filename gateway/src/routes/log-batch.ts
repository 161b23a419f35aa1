import type { FastifyInstance } from 'fastify'
import { limits } from '@intake/contract'
import { LogBatchResult } from '@intake/contract/schemas'
import { printBatchResult } from '../accept/batch-results.ts'
import type { AcceptBatch } from '../accept/log-batch.ts'
import { jsonBody } from '../body/json-body.ts'
import { acceptRoute, type JsonRouteOptions } from './accept-route.ts'

/**
 * Serves `POST /api/log/batch`, which accepts or rejects each of several log events of one device.
 *
 * @param options.jsonBytesMax the maximum size of the JSON after decompression
 */
export async function logBatchRoute(
  app: FastifyInstance,
  options: JsonRouteOptions & { acceptBatch: AcceptBatch; jsonBytesMax: number },
): Promise<void> {
  const { acceptBatch, turns, limiter, bodyBytesMax, jsonBytesMax, budget, beforeBody } = options
  const nodesMax = limits.batchJsonNodes
  await app.register(jsonBody, { jsonBytesMax, nodesMax, turns, limiter })

  acceptRoute(app, beforeBody, {
    url: '/api/log/batch',
    kind: 'logs',
    bodyBytesMax,
    budget,
    codings: ['gzip'],
    status: 207,
    schema: LogBatchResult,
    accept: acceptBatch,
    // Fastify's serializer of the schema is too slow for a response with many entries.
    print: printBatchResult,
  })
}
