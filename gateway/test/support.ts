import { decompress } from '@intake/queue/frame'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { compileRules, type ApiKey, type Rule, type RuleChoice } from '@intake/access'
import { GatewayConfig } from '@intake/config'
import type { ErrorCode, IntakeError, RecordKind } from '@intake/contract'
import { refusalsOf, type OperationId } from '@intake/contract/openapi'
import type { Frame } from '@intake/queue'
import type { StoredObject } from '@intake/object-store'
import type { RedisState } from '@intake/redis'
import { systemClock, type Clock } from '@intake/runtime'
import { createLogger, createMetrics } from '@intake/runtime/process'
import { loadConfig } from '@intake/runtime/config'
import { createMemoryIdempotencyStore } from '@intake/sandbox'
import { createAdmission } from '../src/admission/admission.ts'
import { createLocalCounters } from '../src/admission/fleet-counters.ts'
import { KeyLimiter } from '../src/admission/key-limits.ts'
import { buildApp, type AppOptions } from '../src/app.ts'
import { createGatewayMetrics } from '../src/report/metrics.ts'
import { OutcomeCounts, type OutcomeReport } from '../src/report/outcome-counts.ts'
import type { SweepClock } from '@intake/http-edge'
import type { GatewayPorts } from '../src/ports.ts'
import { createMemoryAttachments } from './twins/attachments.ts'

export const secret = 'a-secret-of-some-length'

/** The state of a Redis in which nothing is wrong. */
export const soundState: RedisState = {
  writeRefusal: undefined,
  durabilityViolations: [],
  isDurabilityAsserted: false,
  memoryUsed: 0,
  memoryBytesMax: 2 ** 30,
  fullestServer: undefined,
  installation: 'test',
  clock: undefined,
}

/**
 * Time passes only by being read, so that a busy machine exceeds no time limit and ends no window,
 * and a large batch still takes several turns.
 */
let readings = 0
const slow: Clock = { ...systemClock, now: () => ++readings / 10 }

/** A gateway with in-memory ports, and the data that reached them. */
export interface TestGateway {
  /** From now on connections close with their next response. */
  leave: () => void
  app: FastifyInstance
  /** The only API key; may be changed at any time. */
  apiKey: ApiKey
  frames: Record<RecordKind, Frame[]>
  objects: Map<string, StoredObject>
  log: string[]
  /** The state of Redis that the gateway sees; may be changed at any time. */
  state: RedisState
  /** Every row in every frame of a kind, parsed. */
  rows(kind: RecordKind): Record<string, unknown>[]
  release(): void
  outcomes: OutcomeCounts
  /** The metrics in Prometheus format. */
  metrics(): Promise<string>
  /** Errors with which the next calls of a port fail. */
  fail: {
    enqueue?: IntakeError | undefined
    /** The first `frames` frames succeed; every later frame fails with this error. */
    enqueueAfter?: { frames: number; error: IntakeError }
    put?: IntakeError | undefined
    /** The error for the reservation of an idempotency key. */
    reserve?: IntakeError | undefined
  }
}

export async function startGateway(
  t: Test,
  options: {
    env?: Record<string, string>
    key?: Partial<ApiKey>
    keysLoaded?: boolean
    /** Frames are confirmed only after `release`. */
    holdFrames?: boolean
    queueState?: Partial<RedisState>
    /** Returns the keys that are over their share of the queue; the only key is `key_1`. */
    overShare?: Record<RecordKind, ReadonlySet<string>>
    clock?: SweepClock
    senders?: AppOptions['senders']
    policy?: Partial<GatewayPorts['policy']>
    rules?: readonly RuleChoice[]
    /** Returns the time by which daily limits are counted, in milliseconds since 1970. */
    wallMs?: () => number
  } = {},
): Promise<TestGateway> {
  const key: ApiKey = {
    id: 'key_1',
    name: 'test',
    bundleIdentifiers: [],
    origins: [],
    limits: {},
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    suspendedAt: null,
    revokedAt: null,
    ...options.key,
  }
  const frames: TestGateway['frames'] = { logs: [], feedback: [] }
  const objects = new Map<string, StoredObject>()
  const fail: TestGateway['fail'] = {}
  const log: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const attachments = createMemoryAttachments(objects)
  const idempotency = createMemoryIdempotencyStore()
  const state: RedisState = { ...soundState, ...options.queueState }
  const queue = (kind: RecordKind) => ({
    async add(frame: Frame) {
      if (fail.enqueue) throw fail.enqueue
      const after = fail.enqueueAfter
      if (after && frames[kind].length >= after.frames) throw after.error
      frames[kind].push(frame)
      if (options.holdFrames) await released
    },
  })
  const registry = createMetrics()
  const outcomes = new OutcomeCounts()
  const config = loadConfig(GatewayConfig, {
    REDIS_URL: 'redis://unused',
    S3_ENDPOINT: 'http://unused',
    // All records of a test are sent by one device, so the limits of a device are raised.
    DEVICE_EVENTS_PER_MINUTE_MAX: '1000000000',
    DEVICE_FEEDBACK_PER_MINUTE_MAX: '1000000000',
    ...options.env,
  })
  const startedMs = Date.now()
  const { wallMs = options.holdFrames ? () => startedMs : Date.now } = options
  const rules = compileRules({ rules: (options.rules ?? []).map(asRule), secret: ruleSecret })
  const { app, connections } = await buildApp({
    config,
    ports: {
      apiKeys: {
        isLoaded: () => options.keysLoaded ?? true,
        find: (sent) => (sent === secret && options.keysLoaded !== false ? key : undefined),
      },
      attachments: {
        async put(object) {
          if (fail.put) throw fail.put
          await attachments.put(object)
        },
        remove: attachments.remove,
      },
      idempotency: {
        async reserve(...reservation) {
          if (fail.reserve) throw fail.reserve
          return idempotency.reserve(...reservation)
        },
      },
      policy: {
        isLoaded: () => true,
        retentionMs: () => undefined,
        isSuppressed: () => false,
        rules: () => rules,
        ...options.policy,
      },
      limiter: new KeyLimiter({
        config,
        counters: createLocalCounters(slow),
        clock: slow,
        wallMs,
      }),
      queues: { logs: queue('logs'), feedback: queue('feedback') },
    },
    admission: createAdmission({
      state: () => state,
      ...(options.overShare && { overShare: options.overShare }),
      isStrict: true,
      wallMs,
    }),
    wallMs,
    problems: { present: () => [], note: () => {} },
    isDraining: () => false,
    clock: slow,
    sweepClock: options.clock ?? { now: slow.now, intervalMs: 500 },
    senders: options.senders,
    metrics: createGatewayMetrics(registry),
    registry,
    outcomeCounts: outcomes,
    log: createLogger({
      name: 'gateway',
      level: 'debug',
      destination: { write: (line) => void log.push(line) },
    }),
  })
  t.teardown(() => app.close())
  return {
    app,
    leave: () => connections.leave(),
    apiKey: key,
    frames,
    objects,
    log,
    state,
    fail,
    release,
    outcomes,
    metrics: () => registry.metrics(),
    rows: (kind) =>
      frames[kind].flatMap((frame) =>
        linesOf(frame).map((line) => JSON.parse(line) as Record<string, unknown>),
      ),
  }
}

/** The rows of a frame, as they are printed. */
export const linesOf = (frame: Parameters<typeof decompress>[0]) =>
  decompress(frame).toString().trimEnd().split('\n')

/** The secret, in base64, with which rules hash values. */
const ruleSecret = Buffer.from('a secret of hashes').toString('base64')

/** Creates a rule from what an operator chose; ids are `rule_000000000001` and so on. */
const asRule = (choice: RuleChoice, index: number): Rule => ({
  ...choice,
  id: `rule_${String(index + 1).padStart(12, '0')}`,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'test',
})

const deviceUuid = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'

export function logBody(log: object = {}, rest: object = {}): Record<string, unknown> {
  return {
    bundle_identifier: 'com.example.app',
    device: { os: 'Android' },
    device_uuid: deviceUuid,
    unique_user_id: 'user-1',
    log: { event: 'screen_view', ...log },
    ...rest,
  }
}

/** The fields that log events and feedback share. */
export function sender(): Record<string, unknown> {
  const { log: _, ...fields } = logBody()
  return fields
}

export const feedbackPayload = (feedback: object = {}, rest: object = {}) => ({
  ...sender(),
  feedback: { text: 'It broke.', ...feedback },
  ...rest,
})

/**
 * Returns what a gateway has counted, as lines `name: records`. Sums the counts of all minutes,
 * because a test may run across the end of a minute.
 */
export function countsOf(
  { outcomes }: TestGateway,
  nameOf: (report: OutcomeReport) => string,
): string[] {
  const totals = new Map<string, number>()
  for (const report of outcomes.unreported()) {
    const name = nameOf(report)
    totals.set(name, (totals.get(name) ?? 0) + report.records)
  }
  return [...totals].map(([name, records]) => `${name}: ${records}`)
}

export const headers = { 'x-api-key': secret, 'content-type': 'application/json' }

type Payload = string | object | Buffer

/**
 * Sends JSON with the key of the test.
 *
 * @param more further headers, or others than `headers`
 */
export async function post(
  { app }: Pick<TestGateway, 'app'>,
  url: string,
  payload: Payload,
  more: Record<string, string> = {},
) {
  const response = await app.inject({
    method: 'POST',
    url,
    headers: { ...headers, ...more },
    payload,
  })
  requireDocumented(url, response)
  return response
}

/** The names of the operations in `/openapi.json`, by path. */
export const operations = {
  '/api/log': 'createLog',
  '/api/log/batch': 'createLogBatch',
  '/api/feedback': 'createFeedback',
} as const

/** Every test that provokes an error also checks that the document names it for the operation. */
export function requireDocumented(
  url: string,
  { statusCode, body }: { statusCode: number; body: string },
): void {
  const operation = (operations as Partial<Record<string, OperationId>>)[url]
  if (statusCode < 400 || operation === undefined) return
  const { code } = JSON.parse(body) as { code: ErrorCode }
  const codes = refusalsOf(operation).get(statusCode) ?? []
  if (!codes.includes(code)) throw new Error(`/openapi.json has no ${code} for ${operation}`)
}

export const sendLog = (
  gateway: Pick<TestGateway, 'app'>,
  payload: Payload = logBody(),
  more: Record<string, string> = {},
) => post(gateway, '/api/log', payload, more)

/** Sends a log event, perhaps under an idempotency key. */
export async function sendKeyed(
  gateway: Pick<TestGateway, 'app'>,
  payload: Payload,
  key?: string,
): Promise<{ status: number; body: { id: string; code: string } }> {
  const response = await sendLog(
    gateway,
    payload,
    key === undefined ? {} : { 'idempotency-key': key },
  )
  return { status: response.statusCode, body: response.json() }
}

/** Resolves to the port on which the gateway listens from now on. */
export async function listen({ app }: Pick<TestGateway, 'app'>): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Valid images of 1 × 1 pixel, in three of the accepted formats. */
export const images = {
  png,
  /** A PNG with the chunk that declares an animation (`acTL`), before the image data. */
  animatedPng: Buffer.concat([
    png.subarray(0, 33),
    Buffer.from('000000086163544c0000000100000000b92d6dbb', 'hex'),
    png.subarray(33),
  ]),
  gif: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  webp: Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64'),
}
