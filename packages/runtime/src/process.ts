export { createLogger, createWarning, type Logger } from './logger.ts'
export * from './metrics.ts'
export { runProcess, type ProcessContext } from './run-process.ts'
