import { GatewayConfig } from '@intake/config'
import {
  buildApp,
  createAdmission,
  createLocalCounters,
  KeyLimiter,
  createGatewayMetrics,
  type AppOptions,
  type GatewayPorts,
} from '@intake/gateway'
import type { Handler } from '@intake/http-edge'
import { systemClock } from '@intake/runtime'
import { createMetrics, type Logger } from '@intake/runtime/process'
import { loadConfig } from '@intake/runtime/config'

/**
 * The memory that records may take, in bytes. The gateway refuses logs when three quarters of this
 * memory are used.
 */
const recordBytesMax = 256 * 1024 * 1024

/** The state of a healthy Redis. */
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
 * Builds a gateway on in-memory ports. All settings are the defaults except two: pages of every
 * origin may send (the sandbox checks origins before), and the limit of a device is as high as that of its API key.
 *
 * @param options.bytes returns the memory that records use, in bytes
 * @param options.now the gateway's clock, in milliseconds since 1970
 * @param options.countOutcome default: outcomes are not counted
 */
export async function buildMemoryGateway(options: {
  ports: Omit<GatewayPorts, 'limiter'>
  bytes: () => number
  now: () => number
  wrapHandler: (serve: Handler) => Handler
  log: Logger
  countOutcome?: AppOptions['outcomeCounts']['count']
}): Promise<Awaited<ReturnType<typeof buildApp>>['app']> {
  const { ports, bytes, now: wallMs, wrapHandler, log, countOutcome = () => undefined } = options
  const registry = createMetrics()
  const config = loadConfig(GatewayConfig, {
    REDIS_URL: 'redis://unused',
    S3_ENDPOINT: 'http://unused',
    // A page under test is served from another origin than the sandbox, which checks the origin itself.
    CORS_ORIGINS: '*',
    // A test of a sender often has only one device, so the device may send as much as its API key.
    DEVICE_EVENTS_PER_MINUTE_MAX: String(1e9),
  })
  const limiter = new KeyLimiter({
    config,
    counters: createLocalCounters(systemClock),
    clock: systemClock,
    wallMs,
  })
  const { app } = await buildApp({
    config,
    ports: { ...ports, limiter },
    admission: createAdmission({
      state: () => ({ ...memoryState, memoryUsed: bytes() / recordBytesMax }),
      isStrict: true,
      wallMs,
    }),
    problems: { present: () => [], note: () => undefined },
    isDraining: () => false,
    metrics: createGatewayMetrics(registry),
    registry,
    outcomeCounts: { count: countOutcome },
    log,
    wallMs,
    wrapHandler,
  })
  return app
}
