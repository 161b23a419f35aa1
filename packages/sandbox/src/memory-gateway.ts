import { GatewayConfig } from '@intake/config'
import { limits } from '@intake/contract'
import {
  buildApp,
  createAdmission,
  createConfiguredLimiter,
  createGatewayMetrics,
  type GatewayPorts,
} from '@intake/gateway'
import type { Handler } from '@intake/http-edge'
import { createMetrics, loadConfig, systemClock, type Logger } from '@intake/runtime'
import { createMemoryCounters } from './memory-counters.ts'

/** The memory that records may take. The gateway refuses logs at three quarters of it. */
const recordBytesMax = 256 * 1024 * 1024

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

/**
 * The gateway on ports in memory, with its default settings, and open to all pages.
 *
 * @param options.bytes the memory that records take
 * @param options.now its clock, in milliseconds since 1970
 */
export async function buildMemoryGateway(options: {
  ports: Omit<GatewayPorts, 'limiter'>
  bytes: () => number
  now: () => number
  wrapHandler: (serve: Handler) => Handler
  log: Logger
}): Promise<Awaited<ReturnType<typeof buildApp>>['app']> {
  const { ports, bytes, now: wallMs, wrapHandler, log } = options
  const registry = createMetrics()
  const config = loadConfig(GatewayConfig, {
    REDIS_URL: 'redis://unused',
    S3_ENDPOINT: 'http://unused',
    // A page under test is served from another origin than the sandbox.
    CORS_ORIGINS: '*',
    // A test of a sender has one device, which may send as much as its key.
    DEVICE_EVENTS_PER_MINUTE_MAX: String(1e9),
  })
  const limiter = createConfiguredLimiter({
    config,
    counters: createMemoryCounters(),
    clock: systemClock,
    wallMs,
  })
  const { app } = await buildApp({
    config,
    ports: { ...ports, limiter },
    admission: createAdmission({
      state: () => ({ ...memoryState, memoryUsed: bytes() / recordBytesMax }),
      strict: true,
      clockSkewMaxMs: limits.clockSkewMaxMs,
      wallMs,
    }),
    problems: { present: () => [], note: () => undefined },
    isDraining: () => false,
    metrics: createGatewayMetrics(registry),
    registry,
    outcomeCounts: { count: () => undefined },
    log,
    wallMs,
    wrapHandler,
  })
  return app
}
