import type { RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'
import { addField, removeField } from '../change.ts'
import { addEntry, removeEntry } from '../entries.ts'
import { parseRule, rulesMax, type Rule, type RuleChoice } from '../rules/rule.ts'
import { storeDropped } from './retention.ts'
import { readSubjectKey, requireInstallation, rulesKey, secretField } from './secret.ts'
import { readPolicy } from './stored-policy.ts'
import { suppressedKey, suppressionHash, type Suppression } from './suppression.ts'

/** Every gateway keeps the list of suppressed senders in memory. */
export const suppressedMax = 100_000

const suppressed = { key: suppressedKey, isForGateways: true }
const rules = { key: rulesKey, isForGateways: true }

export type PolicyStore = ReturnType<typeof createPolicyStore>

/**
 * An operator's decisions, in Redis, where gateways read them: whom they suppress, what was
 * dropped, and which rules apply. Every method rejects if Redis has lost its data.
 *
 * @param options.who who makes the changes, for the journal
 */
export function createPolicyStore({ redis, who = '' }: { redis: Redis; who?: string }) {
  return {
    /**
     * The key of the hashes that stand for people and devices, in this list and the journal of
     * erasures. Creates the secret of the installation if there is none; rejects if it was lost.
     */
    subjectKey: () => readSubjectKey(redis),

    /** Adds a sender to the list of suppressed senders; resolves to false when the list is full. */
    async suppress(sender: Suppression): Promise<boolean> {
      const field = suppressionHash(await readSubjectKey(redis), sender)
      const { kind } = sender
      return addField(redis, {
        hash: suppressed,
        field,
        value: new Date().toISOString(),
        max: suppressedMax,
        entry: { who, action: 'sender-suppressed', subject: field, detail: { kind } },
      })
    },

    /** Resolves to false if the sender was not suppressed. */
    async unsuppress(sender: Suppression): Promise<boolean> {
      const field = suppressionHash(await readSubjectKey(redis), sender)
      const { kind } = sender
      const entry = {
        who,
        action: 'sender-unsuppressed',
        subject: field,
        detail: { kind },
      } as const
      return removeField(redis, { hash: suppressed, field, entry })
    },

    /**
     * Notes that records before `until`, of all applications or of one, are dropped. Otherwise
     * gateways would store their repeats, and dropped records would reappear.
     */
    async noteDropped(kind: RecordKind, until: Date, bundleIdentifier?: string) {
      await requireInstallation(redis)
      await storeDropped(redis, kind, until, bundleIdentifier)
    },

    /** Adds a valid rule; resolves to undefined when there are `rulesMax`. */
    async addRule(choice: RuleChoice, createdBy: string): Promise<Rule | undefined> {
      // The hash then has the secret, which does not count as a rule.
      await readSubjectKey(redis)
      const max = rulesMax + 1
      return addEntry(redis, { hash: rules, kind: 'rule', choice, max, who: createdBy })
    },

    /** Resolves to the removed rule, or to undefined if there was none. */
    async removeRule(id: string): Promise<Rule | 'unreadable' | undefined> {
      if (id === secretField) return undefined
      return removeEntry(redis, { hash: rules, kind: 'rule', id, parse: parseRule, who })
    },

    /**
     * Resolves to undefined if the revision is `knownRevision`: gateways call this every two seconds,
     * and the list of suppressed senders can be long.
     */
    load: (knownRevision?: string) => readPolicy(redis, knownRevision),
  }
}
