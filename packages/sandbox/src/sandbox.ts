import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GatewayConfig } from '@intake/config'
import { limits } from '@intake/contract'
import { buildApp, createAdmission, createGatewayMetrics } from '@intake/gateway'
import type { Handler } from '@intake/http-edge'
import { createLogger, createMetrics, loadConfig, type Logger } from '@intake/runtime'
import { captureResponse } from './capture-response.ts'
import { createControl } from './control.ts'
import { createFaults, type Fault, type Operation } from './faults.ts'
import { createMemoryIdempotencyStore, createMemoryPorts } from './memory-ports.ts'
import { createRecordStore } from './record-store.ts'
import { seeRequest, type OnRequest } from './seen-request.ts'
import { send, serveFault } from './serve-fault.ts'

export const sandboxKey = 'ik_sandbox'

/** The memory that records may take. The gateway refuses logs at three quarters of it. */
const recordBytesMax = 256 * 1024 * 1024
const keysMax = 100_000

/** A record as the sandbox shows it: the columns of its row, and how often it was accepted. */
export interface SandboxRecord {
  kind: 'log' | 'feedback'
  times_accepted: number
  id: string
  /** ISO 8601 in UTC. */
  time: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  device: Record<string, unknown>
  /** Of a log event. */
  event?: string
  params?: Record<string, unknown>
  /** Of a feedback. */
  feedback_id?: string | null
  text?: string
  email?: string | null
  attachments?: { content_type: string; bytes: number; sha256: string }[]
  [column: string]: unknown
}

/** A gateway without services, for tests of senders. */
export interface Sandbox {
  /** Without a slash at its end. */
  url: string
  apiKey: string
  records(): SandboxRecord[]
  /** Applies to the next requests. `clockOffsetMs` applies at once, until the next one. */
  addFault(fault: Fault): void
  /** The faults that are left. */
  faults(): Fault[]
  /** Removes the faults that are left; the clock stays as it is. */
  clearFaults(): void
  /** Empties records, keys and faults, and sets the clock right. */
  clear(): void
  /** The clock of the sandbox, in milliseconds since 1970. */
  now(): number
  /** Ends also the requests in progress. */
  close(): Promise<void>
}

/**
 * Starts the gateway on ports in memory: no Redis, no ClickHouse, no object store. Everything else
 * is the gateway's own code.
 *
 * @param options.host default: 127.0.0.1
 * @param options.port default: a free one
 * @param options.onRequest called for every request to Intake, with its body
 * @param options.log default: nothing is logged
 */
export async function createSandbox(
  options: { host?: string; port?: number; onRequest?: OnRequest; log?: Logger } = {},
): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, onRequest } = options
  const log = options.log ?? createLogger({ name: 'sandbox', level: 'silent' })
  const records = createRecordStore()
  const idempotency = createMemoryIdempotencyStore({ keysMax })
  const faults = createFaults()
  let clockOffsetMs = 0
  const now = () => Date.now() + clockOffsetMs

  function addFault(fault: Fault): void {
    if (fault.clockOffsetMs === undefined) faults.add(fault)
    else clockOffsetMs = fault.clockOffsetMs
  }
  function clear(): void {
    records.clear()
    idempotency.clear()
    faults.clear()
    clockOffsetMs = 0
  }
  const control = createControl({ records, faults: faults.list, addFault, clear })

  const serveFaulty = async (fault: Fault | undefined, exchange: Exchange): Promise<void> => {
    const { request, response, serve } = exchange
    const seen = onRequest && seeRequest(request, response, { fault, onRequest })
    const onDecided: Parameters<typeof serveFault>[0]['onDecided'] = (decided) => {
      if (seen === undefined || onRequest === undefined) return
      seen.decided = decided
      onRequest(seen)
    }
    if (fault !== undefined) {
      await serveFault({ ...exchange, fault, takeBack: records.takeBack, onDecided })
      return
    }
    if (seen === undefined) return serve()
    const decided = await captureResponse(response, serve)
    if (decided === undefined) return
    onDecided(decided)
    send(response, decided)
  }

  const wrapHandler =
    (serve: Handler): Handler =>
    (request, response) => {
      allowEveryOrigin(response)
      response.setHeader('date', new Date(now()).toUTCString())
      const path = request.url?.split('?', 1)[0] ?? ''
      if (request.method === 'OPTIONS') return answerPreflight(request, response)
      if (path === '/_sandbox' || path.startsWith('/_sandbox/')) {
        return void control(request, response)
      }
      const fault = isOperation(path) ? faults.take(path) : undefined
      const exchange = { request, response, serve: () => serve(request, response) }
      serveFaulty(fault, exchange).catch((err: unknown) => {
        log.error({ err }, 'a request could not be served')
        request.socket.destroy()
      })
    }

  const registry = createMetrics()
  const { app } = await buildApp({
    config: loadConfig(GatewayConfig, {
      REDIS_URL: 'redis://unused',
      S3_ENDPOINT: 'http://unused',
    }),
    ports: createMemoryPorts({ apiKey: sandboxKey, records, idempotency }),
    admission: createAdmission({
      state: () => ({ ...memoryState, memoryUsed: records.bytes() / recordBytesMax }),
      strict: true,
      clockSkewMaxMs: limits.clockSkewMaxMs,
      wallMs: now,
    }),
    problems: { present: () => [], note: () => undefined },
    isDraining: () => false,
    metrics: createGatewayMetrics(registry),
    registry,
    outcomeCounts: { count: () => undefined },
    log,
    wallMs: now,
    wrapHandler,
  })
  await app.listen({ host, port })
  const address = app.server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${name}:${address.port}`,
    apiKey: sandboxKey,
    records: () => [...records.list()].map((json) => JSON.parse(json) as SandboxRecord),
    addFault,
    faults: faults.list,
    clearFaults: faults.clear,
    clear,
    now,
    async close() {
      const closed = app.close()
      app.server.closeAllConnections()
      await closed
    },
  }
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  serve: () => void
}

/** The state of a Redis that is in order. */
const memoryState = {
  writeRefusal: undefined,
  durabilityViolations: [],
  isDurabilityAsserted: false,
  memoryBytesMax: recordBytesMax,
  fullestServer: undefined,
  installation: 'sandbox',
  clock: undefined,
}

const operations: ReadonlySet<string> = new Set<Operation>([
  '/api/log',
  '/api/log/batch',
  '/api/feedback',
])
const isOperation = (path: string): path is Operation => operations.has(path)

/** A page under test is served from another origin than the sandbox. */
function allowEveryOrigin(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-expose-headers', 'retry-after, date')
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': '7200',
  })
  response.end()
}
