/** The parts of the gateway that `clients/sandbox` uses. */
export { createLogPrinter } from './accept/log-record.ts'
export { createAdmission } from './admission/admission.ts'
export { KeyLimiter } from './admission/key-limits.ts'
export { createLocalCounters } from './admission/fleet-counters.ts'
export { type AppOptions, buildApp } from './app.ts'
export type { GatewayPorts } from './ports.ts'
export { finishRow, type RequestContext } from './record/row.ts'
export { createGatewayMetrics } from './report/metrics.ts'
