import { createRequire } from 'node:module'
import { pino, type DestinationStream, type Logger } from 'pino'
import type { build as buildPretty } from 'pino-pretty'
import { limitRepeats } from './limit-repeats.ts'
import { visibleJson, visibleText } from './visible-text.ts'

export type { Logger }

/** Maximum bytes of lines that wait because the disk is full. */
const waitingBytesMax = 1024 * 1024

/**
 * Writes JSON lines to `destination` or standard output; formatted ones to a terminal. The level
 * depends on the consequence: `error` means that data is at risk or that an operator must act.
 */
export function createLogger(options: {
  name: string
  level: string
  destination?: DestinationStream
}): Logger {
  const { name, level, destination = process.stdout.isTTY ? terminal() : jsonLines() } = options
  const timestamp = pino.stdTimeFunctions.isoTime
  // An error of a server can quote a client's text, and the log may be read on a terminal.
  const visible = { write: (line: string) => destination.write(visibleJson(line)) }
  return pino({ name, level, timestamp, serializers: { err: describeError } }, visible)
}

/** Makes strings safe: pino-pretty prints them without escapes. Loaded only for a terminal. */
function terminal(): DestinationStream {
  const load = createRequire(import.meta.url)
  const { build } = load('pino-pretty') as { build: typeof buildPretty }
  const pretty = build({ sync: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' })
  const visible = (_name: string, value: unknown) =>
    typeof value === 'string' ? visibleText(value) : value
  return { write: (line) => void pretty.write(`${JSON.stringify(JSON.parse(line, visible))}\n`) }
}

/**
 * A log that cannot be written, because its disk is full, must not end the process: lines wait, and
 * are dropped if too many wait.
 */
function jsonLines(): DestinationStream {
  const open = () => {
    const opened = pino.destination({ dest: 1, sync: true, maxLength: waitingBytesMax })
    opened.on('error', () => {})
    // A destination that has dropped a line never writes again; flushing it would loop.
    opened.on('drop', () => (stream = open()))
    return opened
  }
  let stream = open()
  return { write: (line) => void stream.write(line) }
}

/** Returns a function that logs errors as warnings, and of repeated ones only the number. */
export const createWarning = (log: Pick<Logger, 'warn'>, help: string, message: string) =>
  limitRepeats((err, omitted) => log.warn({ err, omitted, help }, message))

interface DescribedError {
  type: string
  message: string
  code?: unknown
  stack?: string | undefined
  cause?: DescribedError
}

/** Other fields of an error may contain passwords: client libraries add commands and URLs. */
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
