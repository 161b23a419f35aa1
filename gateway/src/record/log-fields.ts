import { compileCheck, isTimestamp, LogEntry, type LogSubmission } from '@intake/contract/schemas'
import { unknownFields } from './extra.ts'
import type { Extra } from './row.ts'

const isId = compileCheck(LogEntry.properties.id)

/** The names of the fields of a log event; all other fields are unknown fields. */
const logFields: ReadonlySet<string> = new Set(Object.keys(LogEntry.properties))

/**
 * Returns the event of `POST /api/log`, and its unknown fields. An invalid `id` or `timestamp`
 * counts as an unknown field, because apps may have sent those names before they had a meaning.
 */
export function readLog(sent: LogSubmission['log']): { log: LogEntry; unknown: Extra } {
  const { event, params } = sent
  const log: LogEntry = { event, params: params ?? {} }
  let unknown: Extra
  for (const name in sent) {
    const value = (sent as Record<string, unknown>)[name]
    if (name === 'event' || name === 'params') continue
    if (name === 'id' && isId(value)) log.id = value ?? null
    else if (name === 'timestamp' && (value === null || isTimestamp(value))) log.timestamp = value
    else (unknown ??= Object.create(null) as Record<string, unknown>)[name] = value
  }
  return { log, unknown }
}

/**
 * Removes the fields without a column from a valid entry of a batch, and returns them: the unknown
 * fields, and an invalid timestamp. A wrong clock or calendar of the device must not cause a
 * rejection.
 */
export function takeUnknown(entry: LogEntry): Extra {
  const unknown = unknownFields(entry, logFields)
  const { timestamp } = entry
  if (timestamp == null || isTimestamp(timestamp)) return unknown
  entry.timestamp = null
  return Object.assign(Object.create(null) as Record<string, unknown>, unknown, { timestamp })
}
