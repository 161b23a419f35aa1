import type { AddressInfo } from 'node:net'
import { createLogger, type Logger } from '@intake/runtime/process'
import { createControl } from './control.ts'
import { createFaults, type Fault } from './faults.ts'
import { buildMemoryGateway } from './memory-gateway.ts'
import { createMemoryIdempotencyStore, createMemoryPorts } from './memory-ports.ts'
import { createRecordStore } from './record-store.ts'
import { createRefuseForeign } from './refuse-foreign.ts'
import type { OnRequest } from './seen-request.ts'
import { createWrapHandler } from './wrap-handler.ts'

export const sandboxKey = 'ik_sandbox'

const keysMax = 100_000

/** A record as the sandbox shows it: the columns of its row, and how often it was accepted. */
export interface SandboxRecord {
  kind: 'log' | 'feedback'
  times_accepted: number
  id: string
  time: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  device: Record<string, unknown>
  event?: string
  params?: Record<string, unknown>
  /** The client's id of a feedback; absent for a log event. */
  feedback_id?: string | null
  text?: string
  email?: string | null
  attachments?: { content_type: string; bytes: number; sha256: string }[]
  [column: string]: unknown
}

/** A gateway without services, for tests of senders. */
export interface Sandbox {
  url: string
  apiKey: string
  records(): SandboxRecord[]
  /**
   * Adds a fault for the next requests. A fault with `clockOffsetMs` applies at once, and until the
   * next fault with `clockOffsetMs` is added.
   */
  addFault(fault: Fault): void
  faults(): Fault[]
  /** Removes the remaining faults. The clock keeps its offset. */
  clearFaults(): void
  clear(): void
  now(): number
  close(): Promise<void>
}

/**
 * Starts the gateway with everything stored in memory, instead of in Redis, ClickHouse and an
 * object store. All other code is the gateway's own.
 *
 * @param options.host default: 127.0.0.1
 * @param options.port default: a free one
 * @param options.origins origins whose pages and hosts may use it besides those of this machine
 * @param options.onRequest called several times for each request to Intake (see `OnRequest`)
 * @param options.log default: nothing is logged
 */
export async function createSandbox(
  options: {
    host?: string
    port?: number
    origins?: readonly string[]
    onRequest?: OnRequest
    log?: Logger
  } = {},
): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, origins = [], onRequest } = options
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

  const wrapHandler = createWrapHandler({
    faults,
    control,
    refuseForeign: createRefuseForeign(origins),
    takeBack: records.takeBack,
    now,
    onRequest,
    log,
  })
  const app = await buildMemoryGateway({
    ports: createMemoryPorts({ apiKey: sandboxKey, records, idempotency }),
    bytes: records.bytes,
    now,
    wrapHandler,
    log,
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
