import { readInstallationHash, type Redis } from '@intake/redis'
import { parseEntries } from '../entries.ts'
import { readRevision } from '../revision.ts'
import { parseRule, type Rule } from '../rules/rule.ts'
import { parseDropped, retentionKey, type DroppedUntilMs } from './retention.ts'
import { rulesKey, secretField } from './secret.ts'
import { suppressedKey } from './suppression.ts'

export interface StoredPolicy {
  droppedUntilMs: DroppedUntilMs
  /** Changes with each change of the policy, and of the API keys. */
  revision: string
  /** Hashes of suppressed senders (suppression.ts). */
  suppressed: ReadonlySet<string>
  rules: readonly Rule[]
  unreadableRules: string[]
  /**
   * In base64: rules hash values with it, and `subjectKey` is derived from it; undefined if nothing
   * has needed it yet, or if it was lost.
   */
  secret: string | undefined
  /** The fields and rules in Redis that cannot be read, each named in words for an operator. */
  unreadable: string[]
}

export async function readPolicy(redis: Redis, known?: string): Promise<StoredPolicy | undefined> {
  const revision = await readRevision(redis)
  if (revision === known) return undefined
  // If the policy changes after the revision was read, the next call reads it again.
  const [senders, dropped, entries] = await Promise.all([
    readInstallationHash(redis, suppressedKey),
    readInstallationHash(redis, retentionKey),
    readInstallationHash(redis, rulesKey),
  ])
  const suppressed = new Set(Array.from(senders, ([sender]) => sender))
  const stored = new Map(entries)
  const secret = stored.get(secretField)
  stored.delete(secretField)
  const { entries: rules, unreadable: unreadableRules } = parseEntries(stored, parseRule)
  const unreadable = unreadableRules.map((id) => `the entry ${id} of ${rulesKey}`)
  if (secret === undefined && suppressed.size > 0) {
    unreadable.push(`the field ${secretField} of ${rulesKey}`)
  }
  const droppedUntilMs = parseDropped(dropped, (field) =>
    unreadable.push(`the field ${field} of ${retentionKey}`),
  )
  return {
    droppedUntilMs,
    revision,
    suppressed,
    rules,
    unreadableRules,
    secret,
    unreadable,
  }
}
