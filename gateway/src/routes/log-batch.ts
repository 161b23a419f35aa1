import type { FastifyInstance } from 'fastify'
import { keptFor, limits, LogBatchResult, LogBatchSubmission } from '@intake/contract'
import { entryResults } from '../accept/batch-results.ts'
import type { BatchSteps } from '../accept/log-batch.ts'
import { requireCapacity } from '../admission/admission.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { jsonBody } from '../body/json-body.ts'
import { errorResponses } from './error-responses.ts'
import { documentHeaders } from './openapi.ts'
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
    entryBytesMax: number
  },
): Promise<void> {
  const { accept, steps, admission, budget, turns } = options
  const { bodyBytesMax, jsonBytesMax, entryBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.batchJsonNodes, turns })

  app.post(
    '/api/log/batch',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireCapacity(admission, 'logs'), leaseBody(budget, bodyBytesMax)],
      // The batch response has too many entries for the generic serializer.
      serializerCompiler: () => JSON.stringify,
      config: documentHeaders('idempotency-key', 'content-encoding'),
      schema: {
        operationId: 'createLogBatch',
        summary: 'Submit up to 500 application log events of one device',
        description:
          'Every entry is accepted or rejected on its own; the response has a result for each. ' +
          'An entry whose `id` is a UUIDv7 is stored once, however often it is sent. An entry with ' +
          `another id, or in a batch with an \`Idempotency-Key\`, is stored once within ${keptFor.logs}. Any other ` +
          'entry is stored again each time. ' +
          `At most ${bodyBytesMax} bytes, ${entryBytesMax} for an entry with the device; with ` +
          `\`Content-Encoding: gzip\` at most ${jsonBytesMax} bytes after decompression, or ` +
          `${limits.losslessJsonBytes} characters with an integer beyond 2^53 or an escape in a name. ` +
          `At most ${limits.batchJsonNodes} members and elements, ${limits.jsonNodes} in an entry.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogBatchSubmission,
        response: { 207: LogBatchResult, ...errorResponses },
      },
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
