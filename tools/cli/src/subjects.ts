import type { Subject } from '@intake/records'
import { isUuid } from '@intake/contract'
import { parseTime, timeForm } from '@intake/runtime'
import { UsageError } from './endpoints.ts'

/** A user or a device. */
export type PersonalSubject = Exclude<Subject, { kind: 'api-key' }>
/** The records that were sent with an API key in a period. */
export type KeySubject = Extract<Subject, { kind: 'api-key' }>

/** @throws {UsageError} if the identifier is invalid */
export function personalSubject(
  kind: 'user' | 'device',
  id: string,
  { bundle }: { bundle?: string },
): PersonalSubject {
  if (id === '') throw new UsageError(`Name a ${kind}.`)
  if (kind === 'device' && !isUuid(id)) throw new UsageError('A device is named by its UUID.')
  return { kind, id: kind === 'device' ? id.toLowerCase() : id, bundleIdentifier: bundle }
}

/** @throws {UsageError} if a time is invalid, or the range is empty */
export function keySubject(options: { apiKey: string; from: string; to: string }): KeySubject {
  const from = readTime('--from', options.from)
  const to = readTime('--to', options.to)
  if (from >= to) throw new UsageError('--from must be before --to.')
  return { kind: 'api-key', id: options.apiKey, from, to }
}

function readTime(option: string, text: string): Date {
  const time = parseTime(text)
  if (time === undefined) throw new UsageError(`${option} must be ${timeForm}.`)
  return time
}
