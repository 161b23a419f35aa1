/** The parts of the gateway that `clients/sandbox` uses. */
export { createAdmission } from './admission/admission.ts'
export { createKeyLimiter } from './admission/key-limits.ts'
export type { FleetCounters } from './admission/fleet-counters.ts'
export { type AppOptions, buildApp } from './app.ts'
export type { IdempotencyStore } from './identity/idempotency-store.ts'
export type { GatewayPorts } from './ports.ts'
export { createGatewayMetrics } from './report/metrics.ts'
export { problemType } from './errors/problem.ts'
