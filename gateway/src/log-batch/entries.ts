import { compileSchema, IntakeError, limits, LogEntry } from '@intake/contract'
import { checkJson } from '../json.ts'

/** What became of an entry so far, or why it is rejected. */
export type Outcome<Progress> = Progress | IntakeError

const validateEntry = compileSchema(LogEntry)
/** An entry lies two levels below the document. */
const entryDepthMax = limits.jsonDepth - 2

/** An entry, or why it is rejected. */
export function readEntry(value: unknown, index: number): Outcome<LogEntry> {
  try {
    checkJson(value, { depthMax: entryDepthMax, pointer: `/logs/${index}` })
    return validateEntry(value, `/logs/${index}`)
  } catch (error) {
    return rejection(error)
  }
}

/** Why an entry is rejected. What concerns the whole request is thrown on. */
export function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}
