import type { KeyObject } from 'node:crypto'
import { createPolicyStore } from '@intake/access'
import { isUuid } from '@intake/contract'
import { subjectHash, type Subject } from '@intake/records'
import type { Redis } from '@intake/redis'
import { UsageError } from './endpoints.ts'
import { noteChange } from './journal.ts'

export type PersonalSubject = Exclude<Subject, { kind: 'api-key' }>
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

/** Everything that was ever sent with a key: the widest period that ClickHouse can compare. */
export const allOfKey = (id: string): KeySubject => ({
  kind: 'api-key',
  id,
  from: new Date(0),
  to: new Date('2200-01-01'),
})

/**
 * Adds an entry to the journal about a subject, or about repeats of erased ones. It has only a hash
 * of the subject. Resolves to the key of that hash.
 */
export async function noteSubject(
  redis: Redis,
  action: 'erasure-begun' | 'subject-exported',
  subject: Subject | undefined,
): Promise<KeyObject> {
  const subjectKey = await createPolicyStore({ redis }).subjectKey()
  await noteChange(redis, {
    action,
    subject: subject === undefined ? '' : subjectHash(subject, subjectKey),
    detail: { kind: subject?.kind ?? 'repeats' },
  })
  return subjectKey
}
