import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { batchJsonBytesMax, limits, type RecordKind } from '@intake/contract'
import { FeedbackCreated, LogBatchResult, LogCreated } from '@intake/contract/schemas'
import { failable, type Turns } from '@intake/http-edge'
import type { AcceptFeedback } from '../accept/feedback.ts'
import { printBatchResult } from '../accept/batch-results.ts'
import type { AcceptBatch } from '../accept/log-batch.ts'
import type { AcceptLog } from '../accept/log.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import type { BeforeBody, Operation } from '../body/before-body.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import { jsonBody } from '../body/json-body.ts'
import { isLenientForm, multipartOptions, readFeedbackForm } from '../form/feedback-form.ts'
import type { AttachmentRules } from '../form/upload.ts'
import type { Settled } from '../report/outcomes.ts'
import { requireLease } from '../request.ts'

/** @param options.batchBytesMax the maximum size of a batch as it is sent */
export async function recordRoutes(
  api: FastifyInstance,
  options: {
    acceptLog: AcceptLog
    acceptBatch: AcceptBatch
    acceptFeedback: AcceptFeedback
    beforeBody: BeforeBody
    budgets: Record<RecordKind, ByteBudget>
    turns: Turns
    limiter: Pick<KeyLimiter, 'requireShare'>
    batchBytesMax: number
    attachments: AttachmentRules
  },
): Promise<void> {
  const { beforeBody, budgets, turns, limiter, batchBytesMax, attachments } = options
  const logs = { kind: 'logs', budget: budgets.logs, codings: ['gzip'] } as const

  /** Accepts one application log event. */
  await api.register(async (app) => {
    const jsonBytesMax = limits.logBytes
    await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.jsonNodes, turns, limiter })
    acceptRoute(app, beforeBody, {
      ...logs,
      url: '/api/log',
      bodyBytesMax: limits.logBytes,
      status: 201,
      schema: LogCreated,
      accept: options.acceptLog,
    })
  })

  /** Accepts or rejects each of several log events of one device. */
  await api.register(async (app) => {
    const jsonBytesMax = batchJsonBytesMax(batchBytesMax)
    await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.batchJsonNodes, turns, limiter })
    acceptRoute(app, beforeBody, {
      ...logs,
      url: '/api/log/batch',
      bodyBytesMax: batchBytesMax,
      status: 207,
      schema: LogBatchResult,
      accept: options.acceptBatch,
      // Fastify's serializer of the schema is too slow for a response with many entries.
      print: printBatchResult,
    })
  })

  /** Accepts a feedback text with up to four images. */
  await api.register(async (app) => {
    await app.register(multipart, multipartOptions(attachments.formBytesMax))
    acceptRoute(app, beforeBody, {
      kind: 'feedback',
      budget: budgets.feedback,
      codings: [],
      url: '/api/feedback',
      bodyBytesMax: attachments.formBytesMax,
      readsPast: isLenientForm,
      status: 201,
      schema: FeedbackCreated,
      accept: async (request) =>
        options.acceptFeedback(request, await readFeedbackForm(request, { turns, attachments })),
    })
  })
}

/**
 * Registers a `POST` route that accepts records.
 *
 * @param route.schema the JSON Schema of the response body
 * @param route.accept reads the request, and stores and counts its records
 * @param route.print prints the body of the response; default: the serializer that Fastify makes
 * from the schema
 */
function acceptRoute<Body>(
  app: FastifyInstance,
  beforeBody: BeforeBody,
  route: Operation & {
    url: string
    status: 201 | 207
    schema: object
    accept: (request: FastifyRequest) => Promise<Settled<Body>>
    print?: (body: never) => string
  },
): void {
  const { url, bodyBytesMax, status, schema, accept, print } = route
  app.post(
    url,
    {
      bodyLimit: bodyBytesMax,
      onRequest: beforeBody(route),
      ...(print && { serializerCompiler: () => print as (body: unknown) => string }),
      schema: { response: { [status]: schema } },
    },
    (request, reply) => {
      const response = accept(request).then(({ body }) => {
        reply.code(status)
        return body
      })
      // The bytes of the body remain leased until the handler has finished, because it uses the
      // memory even after the client has disconnected. When it takes too long, the request fails,
      // but the handler keeps running.
      return failable(request.exchange, requireLease(request).retainWhile(response))
    },
  )
}
