import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/**
 * JSON lines on standard output, or where `destination` says. Levels by consequence: error means
 * that data is at risk or that a person must act.
 */
export function createLogger(options: {
  name: string
  level: string
  destination?: DestinationStream
}): Logger {
  const { name, level, destination } = options
  return pino({ name, level, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
