import { GatewayConfig } from '@intake/config'
import { limits } from '@intake/contract'
import {
  buildApp,
  createAdmission,
  createGatewayMetrics,
  type AppOptions,
  type GatewayPorts,
} from '@intake/gateway'
import type { Handler } from '@intake/http-edge'
import { createMetrics, loadConfig, type Logger } from '@intake/runtime'

/** The memory that records may take. The gateway refuses logs at three quarters of it. */
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
 * The gateway on in-memory ports, with its default settings.
 *
 * @param options.bytes the memory that records use
 * @param options.now the gateway's clock, in milliseconds since 1970
 * @param options.countOutcome default: outcomes are not counted
 */
export async function buildMemoryGateway(options: {
  ports: GatewayPorts
  bytes: () => number
  now: () => number
  wrapHandler: (serve: Handler) => Handler
  log: Logger
  countOutcome?: AppOptions['outcomeCounts']['count']
}): Promise<Awaited<ReturnType<typeof buildApp>>['app']> {
  const { ports, bytes, now: wallMs, wrapHandler, log, countOutcome = () => undefined } = options
  const registry = createMetrics()
  const { app } = await buildApp({
    config: loadConfig(GatewayConfig, {
      REDIS_URL: 'redis://unused',
      S3_ENDPOINT: 'http://unused',
    }),
    ports,
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
    outcomeCounts: { count: countOutcome },
    log,
    wallMs,
    wrapHandler,
  })
  return app
}
