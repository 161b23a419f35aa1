import { randomUUID } from 'node:crypto'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { checkGatewayConfig, logShare, type GatewayConfig } from '@intake/config'
import { compileSchema, limits, type RecordKind } from '@intake/contract'
import { healthRoutes } from '@intake/health'
import type { Logger, Registry } from '@intake/runtime'
import type { Tracing } from '@intake/tracing'
import type { Admission } from './admission/admission.ts'
import { createByteBudget } from './body/byte-budget.ts'
import { answerClientErrors } from './edge/client-errors.ts'
import { createConnections, type Connections } from './edge/connections.ts'
import { createEdgeServer } from './edge/edge-server.ts'
import { createGroupCommit } from './commit/group-commit.ts'
import { checkJson } from './body/check-json.ts'
import { createLoopUtilization } from './commit/loop-utilization.ts'
import { createStartEnqueue } from './commit/trace-enqueue.ts'
import type { GatewayMetrics } from './report/metrics.ts'
import { openapiRoute } from './routes/openapi.ts'
import type { GatewayProblems } from './report/problems.ts'
import { registerEdgeMetrics } from './report/state-metrics.ts'
import { authenticate } from './admission/authenticate.ts'
import { expectContinue } from './edge/expect-continue.ts'
import { limitRate } from './admission/limit-rate.ts'
import { answerFrameworkErrors, errorHandler } from './errors/error-handler.ts'
import type { OutcomeCounts } from './report/outcome-counts.ts'
import type { GatewayPorts } from './ports.ts'
import { feedbackRoute } from './routes/feedback.ts'
import { logBatchRoute } from './routes/log-batch.ts'
import type { LogRouteOptions } from './routes/log-route-options.ts'
import { logRoute } from './routes/log.ts'
import { createContextOf } from './accept/request-context.ts'
import { createRefusals } from './report/refusals.ts'
import { createShares } from './admission/fairness/shares.ts'
import { traceRequests } from './report/trace-requests.ts'
import { createSweep, realClock, type SweepClock } from './edge/sweep.ts'
import { createTurns } from './admission/fairness/turns.ts'

/** The public interface: every plugin and route, in the order in which requests pass through them. */
export async function buildApp(options: {
  config: GatewayConfig
  ports: GatewayPorts
  admission: Admission
  problems: Pick<GatewayProblems, 'present' | 'note'>
  isDraining: () => boolean
  metrics: GatewayMetrics
  registry: Registry
  outcomes: Pick<OutcomeCounts, 'count'>
  log: Logger
  /** Undefined: traces are off. */
  tracing?: Tracing | undefined
  clock?: SweepClock
}): Promise<{ app: FastifyInstance; connections: Pick<Connections, 'counts'> }> {
  const {
    config,
    ports,
    admission,
    problems,
    metrics,
    registry,
    outcomes,
    log,
    tracing,
    clock = realClock,
  } = options
  checkGatewayConfig(config)

  const refusals = createRefusals({
    metrics,
    problems,
    outcomes,
    log,
    isClosing: options.isDraining,
  })
  const connections = createConnections({
    max: config.CONNECTIONS_MAX,
    onEnd: metrics.connectionEnded,
    onExchangeEnd: metrics.requestEnded,
  })
  const sweep = createSweep({
    connections,
    limits: {
      bodyBytesPerSecondMin: config.BODY_BYTES_PER_SECOND_MIN,
      responseTimeoutMs: config.RESPONSE_TIMEOUT_MS,
    },
    clock,
  })

  const loggerInstance: FastifyBaseLogger = log
  const app: FastifyInstance = fastify({
    loggerInstance,
    logController: new LogController({
      disableRequestLogging: true,
    }),
    // A child logger per request would cost more than routing it; log lines name the request.
    childLoggerFactory: (logger) => logger,
    genReqId: () => randomUUID(),
    serverFactory: (handler) =>
      createEdgeServer({
        connections,
        sweep,
        refusals,
        headersTimeoutMs: config.HEADERS_TIMEOUT_MS,
        accountOf: ({ headers }) =>
          ports.apiKeys.find(String(headers['x-api-key'] ?? ''))?.id ?? '',
        handler,
      }),
    return503OnClosing: false,
    clientErrorHandler: answerClientErrors(refusals),
    frameworkErrors: answerFrameworkErrors(refusals),
  })
  app.setValidatorCompiler(({ schema }) => validator(schema))

  // Routes read their own bodies; Fastify parses none.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  await app.register(errorHandler, { refusals })
  await app.register(expectContinue)
  await openapiRoute(app)
  // Anyone can call these; only the admin port gives the reasons.
  healthRoutes(app, { problems, isDraining: options.isDraining, reasons: false })

  const loopUtilization = createLoopUtilization()
  const commit = (kind: RecordKind) =>
    createGroupCommit({
      producer: ports.queues[kind],
      loopUtilization,
      acceptanceMsMax: limits.acceptanceMs[kind],
      onStored: (frame) => metrics.accepted(kind, frame),
      startEnqueue: tracing && createStartEnqueue(tracing, kind),
    })
  const logs = commit('logs')
  const feedback = commit('feedback')
  app.addHook('onClose', () => Promise.all([logs.close(), feedback.close()]))

  app.addHook('onClose', (_app, done) => {
    refusals.close()
    done()
  })
  app.addHook('preClose', (done) => {
    connections.drain()
    sweep.drain()
    done()
  })

  const requests = createShares(config.CONNECTIONS_MAX)
  const budget = (share: number) =>
    createByteBudget({ bytesMax: Math.floor(config.BYTES_IN_FLIGHT_MAX * share), requests })
  const budgets = { logs: budget(logShare), feedback: budget(1 - logShare) }
  registerEdgeMetrics(registry, { connections, budgets })

  const { idempotency, policy } = ports
  const enqueueTimeoutMs = config.ENQUEUE_TIMEOUT_MS

  await app.register(async (api) => {
    api.removeAllContentTypeParsers()
    const { CLIENT_TRACEPARENT: clientTraceparent } = config
    await api.register(traceRequests, { tracing, clientTraceparent })
    await api.register(authenticate, { apiKeys: ports.apiKeys, admission, connections })
    await api.register(limitRate, {
      max: config.RATE_LIMIT_MAX,
      windowMs: config.RATE_LIMIT_WINDOW_MS,
      rate: ports.rate,
    })
    const turns = createTurns()
    const contextOf = createContextOf({
      now: () => admission.now(),
      countryHeader: config.CLIENT_COUNTRY_HEADER,
    })
    const logRoutes: LogRouteOptions = {
      logs,
      outcomes,
      admission,
      contextOf,
      idempotency,
      policy,
      budget: budgets.logs,
      turns,
      enqueueTimeoutMs,
    }
    await api.register(logRoute, { ...logRoutes, bodyBytesMax: config.LOG_BODY_BYTES_MAX })
    await api.register(logBatchRoute, {
      ...logRoutes,
      bodyBytesMax: config.BATCH_BODY_BYTES_MAX,
      jsonBytesMax: config.BATCH_JSON_BYTES_MAX,
      entryBytesMax: config.LOG_BODY_BYTES_MAX,
      refusals,
    })
    await api.register(feedbackRoute, {
      feedback,
      outcomes,
      admission,
      contextOf,
      idempotency,
      policy,
      budget: budgets.feedback,
      turns,
      attachmentBytesMax: config.ATTACHMENT_BYTES_MAX,
      store: ports.attachments,
      enqueueTimeoutMs,
    })
  })
  return { app, connections }
}

/** Wraps the compiled schema in Fastify's validator interface. */
function validator(schema: unknown): (value: unknown) => { value?: unknown; error?: Error } {
  const validate = compileSchema(schema as TSchema)
  return (value) => {
    try {
      checkJson(value)
      return { value: validate(value) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}
