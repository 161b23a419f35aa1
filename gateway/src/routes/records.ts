import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { formBytesMax, type GatewayConfig } from '@intake/config'
import { batchJsonBytesMax, limits, type RecordKind } from '@intake/contract'
import { FeedbackCreated, LogBatchResult, LogCreated } from '@intake/contract/schemas'
import { createTurns, failable } from '@intake/http-edge'
import { systemClock, type Clock } from '@intake/runtime'
import { createAcceptance } from '../accept/acceptance.ts'
import { createAcceptFeedback } from '../accept/feedback.ts'
import { printBatchResult } from '../accept/batch-results.ts'
import { createAcceptBatch } from '../accept/log-batch.ts'
import { createAcceptLog } from '../accept/log.ts'
import type { Admission } from '../admission/admission.ts'
import type { BeforeBody, Operation } from '../body/before-body.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import { jsonBody } from '../body/json-body.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import { isLenientForm, multipartOptions, readFeedbackForm } from '../form/feedback-form.ts'
import type { AttachmentRules } from '../form/upload.ts'
import type { GatewayPorts } from '../ports.ts'
import type { Outcomes, Settled } from '../report/outcomes.ts'
import { requireLease } from '../request.ts'

/** Registers the operations that accept records. */
export async function recordRoutes(
  api: FastifyInstance,
  options: {
    config: GatewayConfig
    ports: GatewayPorts
    admission: Pick<Admission, 'now'>
    beforeBody: BeforeBody
    outcomes: Outcomes
    budgets: Record<RecordKind, ByteBudget>
    commits: Record<RecordKind, GroupCommit>
    clock?: Clock
  },
): Promise<void> {
  const { config, ports, beforeBody, outcomes, budgets, commits, clock = systemClock } = options
  const { idempotency, limiter, attachments: store } = ports
  const turns = createTurns(clock)
  const acceptance = createAcceptance({
    ...ports,
    outcomes,
    now: options.admission.now,
    countryHeader: config.CLIENT_COUNTRY_HEADER,
    enqueueTimeoutMs: config.ENQUEUE_TIMEOUT_MS,
    clock,
  })
  const ofLogs = { acceptance, logs: commits.logs, idempotency }
  const logRoute = { kind: 'logs', budget: budgets.logs, codings: ['gzip'] } as const

  /** Accepts one application log event. */
  await api.register(async (app) => {
    const jsonBytesMax = limits.logBytes
    await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.jsonNodes, turns, limiter })
    acceptRoute(app, beforeBody, {
      ...logRoute,
      url: '/api/log',
      bodyBytesMax: limits.logBytes,
      status: 201,
      schema: LogCreated,
      accept: createAcceptLog(ofLogs),
    })
  })

  /** Accepts or rejects each of several log events of one device. */
  await api.register(async (app) => {
    const sharedBytesMax = config.BATCH_BODY_BYTES_MAX
    const jsonBytesMax = batchJsonBytesMax(sharedBytesMax)
    await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.batchJsonNodes, turns, limiter })
    acceptRoute(app, beforeBody, {
      ...logRoute,
      url: '/api/log/batch',
      bodyBytesMax: sharedBytesMax,
      status: 207,
      schema: LogBatchResult,
      accept: createAcceptBatch({ ...ofLogs, turns, sharedBytesMax, clock }),
      // Fastify's serializer of the schema is too slow for a response with many entries.
      print: printBatchResult,
    })
  })

  /** Accepts a feedback text with up to four images. */
  await api.register(async (app) => {
    const attachments = attachmentRules(config)
    const feedback = commits.feedback
    const accept = createAcceptFeedback({ acceptance, feedback, idempotency, store })
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
        accept(request, await readFeedbackForm(request, { turns, attachments })),
    })
  })
}

const attachmentRules = (config: GatewayConfig): AttachmentRules => ({
  bytesMax: config.ATTACHMENT_BYTES_MAX,
  formBytesMax: formBytesMax(config.ATTACHMENT_BYTES_MAX),
  pixelsMax: config.ATTACHMENT_PIXELS_MAX,
  keepsMetadata: config.KEEP_METADATA,
})

/**
 * Registers a `POST` route that accepts records.
 *
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
