import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import {
  createAddressOf,
  logShare,
  parseCorsOrigins,
  parseTrustProxy,
  publicUrlOf,
  type GatewayConfig,
} from '@intake/config'
import { limits, type RecordKind } from '@intake/contract'
import { healthRoutes } from '@intake/health'
import {
  createFairGate,
  createHttpEdge,
  expectContinue,
  type Cors,
  type Handler,
  type HttpEdge,
  type SweepClock,
} from '@intake/http-edge'
import { systemClock, type Clock } from '@intake/runtime'
import type { Logger, Registry } from '@intake/runtime/process'
import type { Tracing } from '@intake/tracing'
import type { Admission } from './admission/admission.ts'
import { createBeforeBody } from './body/before-body.ts'
import { createApiCors } from './admission/cors.ts'
import type { QueueShares } from './admission/queue-shares.ts'
import { createAddressLimit } from './admission/sketch-limits.ts'
import { createByteBudget, createShares, type ByteBudget } from './body/byte-budget.ts'
import { GroupCommit } from './commit/group-commit.ts'
import { createLoopUtilization } from './commit/loop-utilization.ts'
import { createStartEnqueue } from './commit/trace-enqueue.ts'
import { answerFrameworkErrors, errorHandler, refuseAtEdge } from './errors/error-handler.ts'
import type { GatewayPorts } from './ports.ts'
import type { GatewayMetrics } from './report/metrics.ts'
import type { OutcomeCounts } from './report/outcome-counts.ts'
import { createOutcomes, type Outcomes } from './report/outcomes.ts'
import type { GatewayProblems } from './report/problems.ts'
import { createRefusals } from './report/refusals.ts'
import { registerEdgeMetrics } from './report/state-metrics.ts'
import { traceRequests } from './report/trace-requests.ts'
import { decorateRequests, requestOptions } from './request.ts'
import { docsRoute } from './routes/docs.ts'
import { openapiRoute } from './routes/openapi.ts'
import { recordRoutes } from './routes/records.ts'

/**
 * How long the gateway keeps an idle connection. Most load balancers keep one for 60 s, some for
 * 600 s. The gateway keeps it longer, so that it never closes a connection on which the balancer is
 * sending a request. This costs no capacity, because idle connections are closed when new
 * connections need their places.
 */
const keepAliveTimeoutMs = 620_000
/** A connection is closed if a request has no response this long after the request's last byte. */
const responseTimeoutMs = 30_000
/**
 * The limits for slow senders. A sender gets 408 when its body arrives ten seconds later than it
 * would at `bodyBytesPerSecondMin`, or when the head of its request takes longer than
 * `headersTimeoutMs`.
 */
const slowestSenders = { bodyBytesPerSecondMin: 4_096, headersTimeoutMs: 10_000 }
/** The maximum number of requests in one turn of the event loop. Serving them takes about 2 ms. */
const requestsPerTurn = 32

export interface AppOptions {
  config: GatewayConfig
  ports: GatewayPorts
  admission: Admission
  problems: Pick<GatewayProblems, 'present' | 'note'>
  isDraining: () => boolean
  metrics: GatewayMetrics
  registry: Registry
  outcomeCounts: Pick<OutcomeCounts, 'count'>
  log: Logger
  /** Counts what each API key holds in the queue; by default nothing counts it. */
  queueShares?: Pick<QueueShares, 'unsent' | 'over'>
  tracing?: Tracing | undefined
  clock?: Clock
  wallMs?: () => number
  sweepClock?: SweepClock | undefined
  /** @default 4,096 bytes of a body per second, ten seconds for a head */
  senders?: Partial<typeof slowestSenders> | undefined
  /** May respond itself, or change the response. By default the routes serve every request. */
  wrapHandler?: (serve: Handler) => Handler
}

/**
 * Builds the public interface: registers every plugin and route.
 *
 * Fastify, and not a call, leads a request from step to step: the edge, `traceRequests`,
 * `beforeBody`, `expectContinue`, the parser of the body (`jsonBody`; a form is read by its route),
 * then `accept` of the route. An error of any step after the edge goes to `errorHandler`.
 */
export async function buildApp(options: AppOptions): Promise<{
  app: FastifyInstance
  connections: Pick<HttpEdge['connections'], 'counts' | 'leave'>
}> {
  const { config, problems, metrics, log, isDraining, registry } = options
  const refusals = createRefusals({ metrics, problems, log, isClosing: isDraining })
  const outcomes = createOutcomes({
    counts: options.outcomeCounts,
    refusals,
    wallMs: options.wallMs ?? Date.now,
  })
  const addressOf = createAddressOf(parseTrustProxy(config.TRUST_PROXY))
  const limitAddresses = (max: number) =>
    createAddressLimit({ addressOf, max, clock: options.clock ?? systemClock })
  const allowed = parseCorsOrigins(config.CORS_ORIGINS)
  const cors = createApiCors({
    allowed,
    addresses: limitAddresses(limits.preflightsPerAddress),
    onPreflight: metrics.preflight,
  })
  const edge = createEdge(options, outcomes, cors)
  const app = createFastify(options, { edge, outcomes })

  decorateRequests(app)
  await app.register(errorHandler, { outcomes })
  await app.register(expectContinue)
  const url = publicUrlOf(config)
  openapiRoute(app, { url, limits: config })
  docsRoute(app, { url })
  // The public health routes omit the reasons of problems; those on the admin port give them.
  healthRoutes(app, { problems, isDraining, reasons: false })

  const commits = createCommits(options)
  app.addHook('onClose', () => Promise.all([commits.logs.close(), commits.feedback.close()]))
  app.addHook('onClose', (_app, done) => {
    refusals.close()
    done()
  })
  app.addHook('preClose', () => edge.drain())

  const budgets = createBudgets(config)
  const activeRules = () => options.ports.policy.rules().active
  registerEdgeMetrics(registry, { connections: edge.connections, budgets, activeRules })
  const beforeBody = createBeforeBody({
    ...options.ports,
    admission: options.admission,
    connections: edge.connections,
    allowed,
    failures: limitAddresses(limits.failuresPerAddress),
  })
  await app.register(async (api) => {
    api.removeAllContentTypeParsers()
    await api.register(traceRequests, { tracing: options.tracing })
    await recordRoutes(api, { ...options, beforeBody, outcomes, commits, budgets })
  })
  return { app, connections: edge.connections }
}

function createEdge(
  { config, metrics, ports, sweepClock, senders }: AppOptions,
  outcomes: Outcomes,
  cors: Cors | undefined,
): HttpEdge {
  const { bodyBytesPerSecondMin, headersTimeoutMs } = { ...slowestSenders, ...senders }
  return createHttpEdge({
    connectionsMax: config.CONNECTIONS_MAX,
    limits: { bodyBytesPerSecondMin, responseTimeoutMs },
    headersTimeoutMs,
    keepAliveTimeoutMs,
    refuse: refuseAtEdge(outcomes, cors),
    cors,
    onConnectionEnd: metrics.connectionEnded,
    onExchangeEnd: metrics.requestEnded,
    gate: createFairGate({
      perTurn: requestsPerTurn,
      accountOf: ({ headers }) => ports.apiKeys.find(String(headers['x-api-key'] ?? ''))?.id ?? '',
    }),
    clock: sweepClock,
  })
}

function createFastify(
  { log, wrapHandler = (serve) => serve }: AppOptions,
  { edge, outcomes }: { edge: HttpEdge; outcomes: Outcomes },
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = log
  const app: FastifyInstance = fastify({
    loggerInstance,
    logController: new LogController({
      disableRequestLogging: true,
    }),
    ...requestOptions,
    serverFactory: (serve) => edge.serverFactory(wrapHandler(serve)),
    return503OnClosing: false,
    clientErrorHandler: edge.clientErrorHandler,
    frameworkErrors: answerFrameworkErrors(outcomes),
  })
  // Routes read and validate their own bodies; Fastify does neither.
  app.setValidatorCompiler(() => () => true)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  return app
}

function createCommits(options: AppOptions): Record<RecordKind, GroupCommit> {
  const { ports, metrics, tracing, queueShares } = options
  const { clock = systemClock, wallMs = Date.now } = options
  const loopUtilization = createLoopUtilization(clock)
  const commit = (kind: RecordKind) =>
    new GroupCommit({
      producer: ports.queues[kind],
      loopUtilization,
      acceptanceMsMax: limits.acceptanceMs[kind],
      onStored: metrics.accepted[kind],
      kind,
      shares: queueShares,
      startEnqueue: tracing && createStartEnqueue(tracing, kind),
      clock,
      wallMs,
    })
  return { logs: commit('logs'), feedback: commit('feedback') }
}

function createBudgets(config: GatewayConfig): Record<RecordKind, ByteBudget> {
  const requests = createShares(config.CONNECTIONS_MAX)
  const budget = (share: number) =>
    createByteBudget({ bytesMax: Math.floor(config.BYTES_IN_FLIGHT_MAX * share), requests })
  return { logs: budget(logShare), feedback: budget(1 - logShare) }
}
