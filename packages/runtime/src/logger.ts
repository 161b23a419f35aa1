import { pino, type Logger } from 'pino'

export type { Logger }

/** JSON lines on standard output. Levels by consequence: error means data is at risk or a person must act. */
export function createLogger(options: { name: string; level: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    timestamp: pino.stdTimeFunctions.isoTime,
  })
}
