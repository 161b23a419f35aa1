import { randomBytes, randomUUID, type KeyObject } from 'node:crypto'
import type { RecordKind } from '@intake/contract'
import { execAll, readInstallation, readInstallationHash, type Redis } from '@intake/redis'
import { journalKey, printEntry } from '../journal/journal.ts'
import { readRevision, revisionKey } from '../revision.ts'
import { parseRule, rulesMax, type Rule, type RuleChoice } from '../rules/rule.ts'
import {
  deriveSubjectKey,
  earlierSuppressionHash,
  isEarlierHash,
  suppressionHash,
  suppressionPrefix,
  type Suppression,
} from './suppression.ts'

/**
 * An operator's decisions: which senders are suppressed, how long records are kept, and which rules
 * apply to records. They are stored in Redis, where gateways read them. Every method rejects if
 * Redis has lost its data.
 */
export interface PolicyStore {
  /**
   * Resolves to the key of the hashes that stand for people and devices, in the list of suppressed
   * senders and in the journal of erasures. Creates the secret of the installation if there is
   * none; rejects if it was lost.
   */
  subjectKey(): Promise<KeyObject>
  /** Adds a sender to the list of suppressed senders; resolves to false when the list is full. */
  suppress(sender: Suppression): Promise<boolean>
  /**
   * Removes a sender from the list of suppressed senders; resolves to false if it was not there.
   */
  unsuppress(sender: Suppression): Promise<boolean>
  /**
   * Sets for how many days records of a kind are kept; undefined means without limit. Of an
   * application: undefined means that only the general period applies.
   */
  setRetention(kind: RecordKind, days: number | undefined, bundleIdentifier?: string): Promise<void>
  /**
   * Notes that records before `until`, of all applications or of one, have been dropped, so that
   * gateways do not store repeats of them. Without this note, such a repeat would be stored after an
   * operator lengthens the retention period, and the dropped record would reappear.
   */
  noteDropped(kind: RecordKind, until: Date, bundleIdentifier?: string): Promise<void>
  /**
   * Adds a rule, which must be valid; resolves to undefined when there are already `rulesMax`
   * rules.
   *
   * @param createdBy the person who adds the rule
   */
  addRule(choice: RuleChoice, createdBy: string): Promise<Rule | undefined>
  /**
   * Resolves to the removed rule; to `unreadable` if the rule could not be read; to undefined if
   * there was no such rule.
   */
  removeRule(id: string): Promise<Rule | 'unreadable' | undefined>
  /**
   * Resolves to the policy, or to undefined if its revision is `knownRevision`. Gateways call this
   * every two seconds. An unchanged policy is not read again, because its list of suppressed
   * senders can be long.
   */
  load(knownRevision?: string): Promise<StoredPolicy | undefined>
}

export interface StoredPolicy {
  /**
   * The mark that setup wrote once for this installation. It is the salt in the hashes of senders
   * that an earlier version suppressed.
   */
  salt: string
  /** Changes with each change of the policy, and of the API keys. */
  revision: string
  /** Hashes of suppressed senders (suppression.ts). */
  suppressed: ReadonlySet<string>
  retentionDays: Record<RecordKind, number | undefined>
  /**
   * Records before this moment, in milliseconds since 1970, may have been dropped. Infinity if the
   * moment cannot be read: then all records before the current month count as dropped.
   */
  droppedUntilMs: Record<RecordKind, number>
  /** The applications whose records are or were kept for a shorter period, by identifier. */
  applicationRetention: Record<RecordKind, ReadonlyMap<string, ApplicationRetention>>
  /** The rules that can be read, oldest first. */
  rules: readonly Rule[]
  /** Ids of rules that cannot be read. */
  unreadableRules: string[]
  /**
   * The secret of the installation, in base64, with which rules hash values, and from which
   * `subjectKey` is derived; undefined if nothing has needed it yet, or if it was lost.
   */
  secret: string | undefined
  /** The fields and rules in Redis that cannot be read, each named in words for an operator. */
  unreadable: string[]
}

export interface ApplicationRetention {
  /** Undefined: the general period applies. */
  days: number | undefined
  /** As in `StoredPolicy`. If it cannot be read, all records before the current day count as dropped. */
  droppedUntilMs: number
}

/**
 * The maximum length of the list of suppressed senders. Every gateway keeps all of it in memory.
 */
export const suppressedMax = 100_000

const suppressedKey = '{intake}:suppressed'
const retentionKey = '{intake}:retention'
/**
 * The key of a Redis hash that maps the ids of rules to rules as JSON. The hash also contains the
 * secret of the installation. The secret is kept when the rules are removed.
 */
const rulesKey = '{intake}:rules'
const secretField = 'secret'

/**
 * Checks the limit and adds the sender in one step, so that concurrent commands cannot exceed the
 * limit.
 */
const addScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HEXISTS', KEYS[1], ARGV[5]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', KEYS[3], ARGV[6])
redis.call('SET', KEYS[2], ARGV[4])
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])`

/**
 * Stores the moment before which records have been dropped. An earlier moment than the stored one
 * is ignored; a stored value that cannot be read is replaced.
 */
const dropScript = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and string.match(known, '^%d+$') and tonumber(known) >= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[2], ARGV[3])
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`

/**
 * Creates the secret if there is none, so that concurrent commands get the same one. Returns null if
 * the secret was lost: with a new one, gateways would store the records of suppressed senders again.
 */
const secretScript = `
if redis.call('HEXISTS', KEYS[1], '${secretField}') == 0 then
  local suppressed = redis.call('HGETALL', KEYS[2])
  for i = 1, #suppressed, 2 do
    if string.sub(suppressed[i], 1, ${suppressionPrefix.length}) == '${suppressionPrefix}' then return false end
  end
  redis.call('HSET', KEYS[1], '${secretField}', ARGV[1])
end
return redis.call('HGET', KEYS[1], '${secretField}')`
/** Checks the limit and adds the rule in one step. The secret is not counted. */
const addRuleScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) - 1 >= tonumber(ARGV[3]) then return 0 end
redis.call('RPUSH', KEYS[3], ARGV[5])
redis.call('SET', KEYS[2], ARGV[4])
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`
/** Removes those of the given fields that exist. Without any, nothing changes. */
const removeScript = `
local found = {}
for index = 3, #ARGV do
  if redis.call('HEXISTS', KEYS[1], ARGV[index]) == 1 then table.insert(found, ARGV[index]) end
end
if #found == 0 then return 0 end
redis.call('RPUSH', KEYS[3], ARGV[2])
redis.call('SET', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], unpack(found))`
const daysField = (kind: RecordKind, bundle?: string) =>
  bundle === undefined ? kind : `${kind}:days:${bundle}`
const droppedField = (kind: RecordKind, bundle?: string) =>
  `${kind}:dropped-until${bundle === undefined ? '' : `:${bundle}`}`
const applicationField = /^(logs|feedback):(?:days|dropped-until):([^]+)$/

/**
 * @param options.who who makes the changes, for the journal
 */
export function createPolicyStore(options: { redis: Redis; who?: string }): PolicyStore {
  const { redis, who = '' } = options

  async function readSalt(): Promise<string> {
    const installation = await readInstallation(redis)
    if (installation === null) throw new Error('Redis belongs to no installation')
    return installation
  }

  async function readSecret(): Promise<string> {
    await readSalt()
    const created = randomBytes(32).toString('base64')
    const secret = await redis.eval(secretScript, 2, rulesKey, suppressedKey, created)
    if (secret === null) {
      throw new Error(
        `the field ${secretField} of ${rulesKey} is lost, with which suppressed senders were hashed (docs/erasure.md)`,
      )
    }
    return secret as string
  }
  /** Resolves to false if none of the fields existed. Nothing is changed then. */
  async function remove(key: string, fields: readonly string[], entry: string): Promise<boolean> {
    const keys = [key, revisionKey, journalKey]
    const removed = await redis.eval(
      removeScript,
      keys.length,
      ...keys,
      randomUUID(),
      entry,
      ...fields,
    )
    return removed !== 0
  }

  const subjectKey = async () => deriveSubjectKey(await readSecret())

  return {
    subjectKey,

    async suppress(sender) {
      const now = new Date().toISOString()
      const field = suppressionHash(await subjectKey(), sender)
      const earlier = earlierSuppressionHash(await readSalt(), sender)
      const keys = [suppressedKey, revisionKey, journalKey]
      const { kind } = sender
      const added = await redis.eval(
        addScript,
        keys.length,
        ...keys,
        field,
        suppressedMax,
        now,
        randomUUID(),
        earlier,
        printEntry({ who, action: 'sender-suppressed', subject: field, detail: { kind } }),
      )
      return added === 1
    },

    async unsuppress(sender) {
      const fields = [
        suppressionHash(await subjectKey(), sender),
        earlierSuppressionHash(await readSalt(), sender),
      ]
      const [subject = ''] = fields
      const { kind } = sender
      const entry = printEntry({ who, action: 'sender-unsuppressed', subject, detail: { kind } })
      return remove(suppressedKey, fields, entry)
    },

    async setRetention(kind, days, bundleIdentifier) {
      await readSalt()
      const change = redis
        .multi()
        .hset(retentionKey, daysField(kind, bundleIdentifier), days ?? 0)
        .set(revisionKey, randomUUID())
      await execAll(change)
    },

    async noteDropped(kind, until, bundleIdentifier) {
      await readSalt()
      const keys = [retentionKey, revisionKey]
      const field = droppedField(kind, bundleIdentifier)
      await redis.eval(dropScript, keys.length, ...keys, field, until.getTime(), randomUUID())
    },

    async addRule(choice, createdBy) {
      await readSecret()
      const { action, rate, path, match } = choice
      const rule: Rule = {
        id: `rule_${randomBytes(6).toString('hex')}`,
        action,
        ...(rate !== undefined && { rate }),
        ...(path !== undefined && { path }),
        match,
        createdAt: new Date().toISOString(),
        createdBy,
      }
      const keys = [rulesKey, revisionKey, journalKey]
      const added = await redis.eval(
        addRuleScript,
        keys.length,
        ...keys,
        rule.id,
        JSON.stringify(rule),
        rulesMax,
        randomUUID(),
        printEntry({ who: createdBy, action: 'rule-added', subject: rule.id, detail: rule }),
      )
      return added === 1 ? rule : undefined
    },

    async removeRule(id) {
      const json = new Map(await readInstallationHash(redis, rulesKey)).get(id)
      if (json === undefined || id === secretField) return undefined
      const rule = parseRule(json)
      const detail = rule ?? { id }
      const entry = printEntry({ who, action: 'rule-removed', subject: id, detail })
      return (await remove(rulesKey, [id], entry)) ? (rule ?? 'unreadable') : undefined
    },

    async load(knownRevision) {
      const current = await readRevision(redis)
      if (current === knownRevision) return undefined
      // If the policy changes after the revision was read, the next `load` sees another revision
      // and reads the policy again.
      const [salt, senders, periods, entries] = await Promise.all([
        readSalt(),
        readInstallationHash(redis, suppressedKey),
        readInstallationHash(redis, retentionKey),
        readInstallationHash(redis, rulesKey),
      ])
      const suppressed = new Set<string>()
      for (const [sender] of senders) suppressed.add(sender)
      const retention = new Map(periods)
      const stored = new Map(entries)
      const { rules, unreadableRules } = parseRules(stored)
      const unreadable = unreadableRules.map((id) => `the entry ${id} of ${rulesKey}`)
      const storedSecret = stored.get(secretField)
      const needsSecret = [...suppressed].some((field) => !isEarlierHash(field))
      if (storedSecret === undefined && needsSecret) {
        unreadable.push(`the field ${secretField} of ${rulesKey}`)
      }
      const numberOf = (field: string): number | undefined => {
        const text = retention.get(field) ?? '0'
        if (/^\d{1,15}$/.test(text)) return Number(text)
        unreadable.push(`the field ${field} of ${retentionKey}`)
        return undefined
      }
      // A retention period that cannot be read counts as unlimited. Even then, the field
      // `dropped-until` keeps gateways from storing repeats of dropped records.
      const periodOf = (kind: RecordKind, bundle?: string) =>
        numberOf(daysField(kind, bundle)) || undefined
      const droppedUntil = (kind: RecordKind, bundle?: string) =>
        numberOf(droppedField(kind, bundle)) ?? Infinity
      const applicationsOf = (kind: RecordKind) => {
        const found = new Map<string, ApplicationRetention>()
        for (const field of retention.keys()) {
          const [, ofKind, bundle = ''] = applicationField.exec(field) ?? []
          if (ofKind !== kind || found.has(bundle)) continue
          found.set(bundle, {
            days: periodOf(kind, bundle),
            droppedUntilMs: droppedUntil(kind, bundle),
          })
        }
        return found
      }
      return {
        salt,
        revision: current,
        suppressed,
        retentionDays: { logs: periodOf('logs'), feedback: periodOf('feedback') },
        droppedUntilMs: { logs: droppedUntil('logs'), feedback: droppedUntil('feedback') },
        applicationRetention: {
          logs: applicationsOf('logs'),
          feedback: applicationsOf('feedback'),
        },
        rules,
        unreadableRules,
        secret: storedSecret,
        unreadable,
      }
    },
  }
}

function parseRules(stored: ReadonlyMap<string, string>): {
  rules: Rule[]
  unreadableRules: string[]
} {
  const rules: Rule[] = []
  const unreadableRules: string[] = []
  for (const [id, json] of stored) {
    if (id === secretField) continue
    const rule = parseRule(json)
    if (rule?.id === id) rules.push(rule)
    else unreadableRules.push(id)
  }
  return {
    rules: rules.toSorted((a, b) =>
      `${a.createdAt} ${a.id}`.localeCompare(`${b.createdAt} ${b.id}`),
    ),
    unreadableRules,
  }
}
