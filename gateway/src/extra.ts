import { senderFields } from '@intake/contract'
import { rowJson } from './row-json.ts'
import type { Extra } from './row.ts'

/**
 * Finds the fields that have no column; nobody's field is lost because we do not know it.
 *
 * @returns a map without a prototype, where `__proto__` is a field like any other; undefined: none
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

/** The names of the fields round a record: those of the sender, and the one that holds it. */
export const submissionFields = (record: string): ReadonlySet<string> =>
  new Set([...senderFields, record])

/**
 * Puts the unknown fields of a record at their path beside those of its submission. A batch may have an
 * unknown field of the name of that path: then both are there, in a list.
 */
export function joinExtra(submission: Extra, record: string, inRecord: Extra): Extra {
  if (inRecord === undefined) return submission
  const joined = Object.assign(Object.create(null) as Record<string, unknown>, submission)
  joined[record] = record in joined ? [joined[record], inRecord] : inRecord
  return joined
}

export interface ExtraPrinter {
  /** What the submission adds to every record, in bytes. */
  readonly bytes: number
  /** `extra` of a record as JSON, as `joinExtra` joins it; undefined: there is none. */
  print(inRecord: Extra): string | undefined
}

/** Prints the unknown fields of a submission once for all its records. */
export function createExtraPrinter(submission: Extra, record: string): ExtraPrinter {
  const { [record]: namesake, ...others } = submission ?? {}
  const shared = rowJson(others).slice(1, -1)
  // The only element of a list, for the field of that name may hold anything.
  const sharedNamesake = namesake === undefined ? '' : rowJson([namesake]).slice(1, -1)
  const withField = (json: string) => `{${shared}${shared && json && ','}${json}}`
  const field = JSON.stringify(record)
  const alone = submission && withField(sharedNamesake && `${field}:${sharedNamesake}`)
  return {
    bytes: Buffer.byteLength(alone ?? ''),
    print(inRecord) {
      if (inRecord === undefined) return alone
      const own = rowJson(inRecord)
      return withField(`${field}:${sharedNamesake ? `[${sharedNamesake},${own}]` : own}`)
    },
  }
}
