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
  const timestamp = pino.stdTimeFunctions.isoTime
  return pino({ name, level, timestamp, serializers: { err: describeError } }, destination)
}

interface DescribedError {
  type: string
  message: string
  code?: unknown
  stack?: string | undefined
  cause?: DescribedError
}

/** Nothing else of an error: clients hang commands and URLs on it, and with them passwords. */
function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' }
  const { name, message, stack, cause } = error
  return {
    type: name,
    message,
    ...('code' in error && { code: error.code }),
    stack,
    ...(cause instanceof Error && { cause: describeError(cause) }),
  }
}
