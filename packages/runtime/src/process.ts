export { createLogger, createWarning, type Logger } from './logger.ts'
export * from './metrics.ts'
export { runProcess } from './run-process.ts'
export type { Secrets } from './watch-secrets.ts'
