import { senderFields } from '@intake/contract/schemas'
import { rowJson } from '@intake/json'
import type { Extra } from './row.ts'

/**
 * Returns the fields that have no column of their own. They are stored in the column `extra`, so
 * that no field is lost.
 *
 * @returns a map without a prototype, where `__proto__` is an ordinary field; undefined if all
 * fields have columns
 */
export function unknownFields(value: object, known: ReadonlySet<string>): Extra {
  let unknown: Extra
  for (const name in value) {
    if (known.has(name)) continue
    unknown ??= Object.create(null) as Record<string, unknown>
    unknown[name] = (value as Record<string, unknown>)[name]
  }
  return unknown
}

/** The sender's fields, and the field that contains the record. */
export const submissionFields = (record: string): ReadonlySet<string> =>
  new Set([...senderFields, record])

/**
 * Adds the unknown fields of a record, under the name `record`, to those of its submission. A field
 * of the same name becomes a list of both values.
 */
export function joinExtra(submission: Extra, record: string, inRecord: Extra): Extra {
  if (inRecord === undefined) return submission
  const joined = Object.assign(Object.create(null) as Record<string, unknown>, submission)
  joined[record] = record in joined ? [joined[record], inRecord] : inRecord
  return joined
}

/** Returns `extra` as JSON, with the fields of `joinExtra`; undefined if there are none. */
export type PrintExtra = (inRecord: Extra) => string | undefined

/** Prints the unknown fields of the submission only once for all its records. */
export function createExtraPrinter(submission: Extra, record: string): PrintExtra {
  if (submission === undefined) return (inRecord) => inRecord && rowJson({ [record]: inRecord })
  const { [record]: namesake, ...others } = submission
  const shared = rowJson(others).slice(1, -1)
  const withField = (field: string) => `{${shared}${shared && field && ','}${field}}`
  const fieldOf = (value: unknown) => rowJson({ [record]: value }).slice(1, -1)
  const alone = withField(namesake === undefined ? '' : fieldOf(namesake))
  return (inRecord) => {
    if (inRecord === undefined) return alone
    return withField(fieldOf(namesake === undefined ? inRecord : [namesake, inRecord]))
  }
}
