import type { Subject } from '@intake/clickhouse'
import { isUuid } from '@intake/contract'
import { UsageError } from './endpoints.ts'

/** A user or a device. */
export type PersonalSubject = Exclude<Subject, { kind: 'api-key' }>

/** @throws {UsageError} the identifier is not one */
export function personalSubject(
  kind: 'user' | 'device',
  id: string,
  { bundle }: { bundle?: string },
): PersonalSubject {
  if (id === '') throw new UsageError(`Name a ${kind}.`)
  if (kind === 'device' && !isUuid(id)) throw new UsageError('A device is named by its UUID.')
  return { kind, id: kind === 'device' ? id.toLowerCase() : id, bundleIdentifier: bundle }
}

/** @throws {UsageError} a time is not one, or the range is empty */
export function keySubject(options: { apiKey: string; from: string; to: string }): Subject {
  const [from, to] = [options.from, options.to].map((text) => new Date(text)) as [Date, Date]
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime()))
    throw new UsageError('--from and --to must be ISO 8601 times.')
  if (from >= to) throw new UsageError('--from must be before --to.')
  return { kind: 'api-key', id: options.apiKey, from, to }
}
