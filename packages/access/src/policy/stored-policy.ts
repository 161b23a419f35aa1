import type { RecordKind } from '@intake/contract'
import { readInstallationHash, type Redis } from '@intake/redis'
import { parseEntries } from '../entries.ts'
import { readRevision } from '../revision.ts'
import { parseRule, type Rule } from '../rules/rule.ts'
import { parseRetention, retentionKey, type KindRetention } from './retention.ts'
import { readSalt, rulesKey, secretField } from './secret.ts'
import { isEarlierHash, suppressedKey } from './suppression.ts'

export interface StoredPolicy {
  retention: Record<RecordKind, KindRetention>
  /** The installation's mark: the salt in hashes of senders that an earlier version suppressed. */
  salt: string
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
  const [salt, senders, periods, entries] = await Promise.all([
    readSalt(redis),
    readInstallationHash(redis, suppressedKey),
    readInstallationHash(redis, retentionKey),
    readInstallationHash(redis, rulesKey),
  ])
  const suppressed = new Set<string>()
  for (const [sender] of senders) suppressed.add(sender)
  const stored = new Map(entries)
  const secret = stored.get(secretField)
  stored.delete(secretField)
  const { entries: rules, unreadable: unreadableRules } = parseEntries(stored, parseRule)
  const unreadable = unreadableRules.map((id) => `the entry ${id} of ${rulesKey}`)
  const needsSecret = [...suppressed].some((field) => !isEarlierHash(field))
  if (secret === undefined && needsSecret) {
    unreadable.push(`the field ${secretField} of ${rulesKey}`)
  }
  const retention = parseRetention(new Map(periods), (field) =>
    unreadable.push(`the field ${field} of ${retentionKey}`),
  )
  return {
    retention,
    salt,
    revision,
    suppressed,
    rules,
    unreadableRules,
    secret,
    unreadable,
  }
}
