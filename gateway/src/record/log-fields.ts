import { compileCheck, LogEntry, type LogSubmission } from '@intake/contract'
import type { Extra } from './row.ts'

const { id, timestamp } = LogEntry.properties
const isId = compileCheck(id)
const isTimestamp = compileCheck(timestamp)

/** The names of the fields of a log event; all others are unknown. */
export const logFields: ReadonlySet<string> = new Set(Object.keys(LogEntry.properties))

/**
 * The event of `POST /api/log`, and its unknown fields. An invalid `id` or `timestamp` counts as an
 * unknown field, because apps may have sent those names before they had a meaning.
 */
export function readLog(sent: LogSubmission['log']): { log: LogEntry; unknown: Extra } {
  const { event, params } = sent
  const log: LogEntry = { event, params: params ?? {} }
  let unknown: Extra
  for (const name in sent) {
    const value = (sent as Record<string, unknown>)[name]
    if (name === 'event' || name === 'params') continue
    if (name === 'id' && isId(value)) log.id = value ?? null
    else if (name === 'timestamp' && isTimestamp(value)) log.timestamp = value ?? null
    else (unknown ??= Object.create(null) as Record<string, unknown>)[name] = value
  }
  return { log, unknown }
}
