import { uuidv7 } from 'uuidv7'
import fastify from 'fastify'
import type { Static, TSchema } from 'typebox'
import {
  compileSchema,
  type LogBatchResult,
  LogBatchSubmission,
  LogCreated,
  LogSubmission,
} from '@intake/contract/schemas'
import { logRow, type LogRow } from './row.ts'

/**
 * Serves `POST /api/log` and `POST /api/log/batch` on loopback as any Fastify service would: checks
 * the API key in memory, validates the body against the product's schema, and sends the product's
 * response after `accept` has resolved. Prints `{"up":true}` when it listens, and exits on SIGTERM.
 *
 * @param options.accept stores rows; without `accept`, the server creates no rows and discards the
 * records
 */
export async function serveLogs(options: {
  accept?: (rows: LogRow[]) => Promise<unknown>
  close?: () => Promise<unknown>
}): Promise<void> {
  const { accept, close } = options
  const keys = new Set([process.env['API_KEY']])
  const app = fastify({
    requestTimeout: 30_000,
    bodyLimit: 1024 * 1024,
  })
  app.setValidatorCompiler(({ schema }) => {
    const validate = compileSchema(schema as TSchema)
    return (value) => {
      try {
        return { value: validate(value) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  })
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key']
    if (typeof key === 'string' && keys.has(key)) return
    reply.code(401)
    throw new Error('Send a valid API key in the x-api-key header.')
  })
  app.post<{ Body: LogSubmission }>(
    '/api/log',
    { schema: { body: LogSubmission, response: { 201: LogCreated } } },
    async (request, reply) => {
      const id = uuidv7()
      if (accept) await accept([logRow(id, request.body)])
      reply.code(201)
      return { message: 'Log successfully created', id }
    },
  )
  app.post<{ Body: Static<typeof LogBatchSubmission> }>(
    '/api/log/batch',
    { schema: { body: LogBatchSubmission } },
    async ({ body: { logs, ...sender } }, reply): Promise<LogBatchResult> => {
      const ids = logs.map(() => uuidv7())
      if (accept) await accept(logs.map((log, index) => logRow(ids[index]!, { ...sender, log })))
      reply.code(207)
      const results = ids.map((id) => ({ status: 'accepted' as const, id }))
      return { message: 'Logs processed', accepted: ids.length, rejected: 0, results }
    },
  )
  process.once('SIGTERM', () => {
    void app.close().then(async () => {
      await close?.()
      process.exit(0)
    })
  })
  await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
  console.log(JSON.stringify({ up: true }))
}
