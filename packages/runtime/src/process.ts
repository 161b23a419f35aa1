export { createLogger, createWarning, type Logger } from './logger.ts'
export {
  addCounter,
  addGauge,
  byKind,
  countOutcomes,
  createMetrics,
  metricsOf,
  Registry,
  type GaugeValues,
} from './metrics.ts'
export { runProcess } from './run-process.ts'
export type { Secrets } from './watch-secrets.ts'
