import { hash } from 'node:crypto'
import { kinds, type RecordKind } from '@intake/contract'
import { readInstallation, readInstallationHash, type Redis } from '@intake/redis'

/** Senders whose records gateways acknowledge and do not store. */
export interface Suppression {
  kind: 'user' | 'device'
  /** `unique_user_id`, or `device_uuid` in lower case. */
  id: string
  /** Undefined: in every application. */
  bundleIdentifier?: string | undefined
}

/** What is stored in Redis for gateways. Every method rejects when Redis has lost its data. */
export interface PolicyStore {
  /** Adds a sender; resolves to false when the list is full. */
  suppress(sender: Suppression): Promise<boolean>
  /** Resolves to false when the sender was not on the list. */
  unsuppress(sender: Suppression): Promise<boolean>
  /** @param days undefined: for ever */
  setRetention(kind: RecordKind, days: number | undefined): Promise<void>
  load(): Promise<StoredPolicy>
}

export interface StoredPolicy {
  /** The mark of the installation, which salts the hashes. */
  salt: string
  /** Hashes of `suppressionHash`. */
  suppressed: ReadonlySet<string>
  retentionDays: Record<RecordKind, number | undefined>
}

/** Every gateway keeps the whole list in memory. */
export const suppressedMax = 100_000

const suppressedKey = '{intake}:suppressed'
const retentionKey = '{intake}:retention'

/** Adds in one step, so that two commands cannot exceed the limit. */
const addScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])`

export function suppressionHash(
  salt: string,
  { kind, id, bundleIdentifier = '' }: Suppression,
): string {
  return hash('sha256', JSON.stringify([salt, kind, bundleIdentifier, id]), 'base64')
}

export function createPolicyStore({ redis }: { redis: Redis }): PolicyStore {
  async function readSalt(): Promise<string> {
    const installation = await readInstallation(redis)
    if (installation === null) throw new Error('Redis belongs to no installation')
    return installation
  }

  return {
    async suppress(sender) {
      const now = new Date().toISOString()
      const field = suppressionHash(await readSalt(), sender)
      const added = await redis.eval(addScript, 1, suppressedKey, field, suppressedMax, now)
      return added === 1
    },

    async unsuppress(sender) {
      const field = suppressionHash(await readSalt(), sender)
      return (await redis.hdel(suppressedKey, field)) === 1
    },

    async setRetention(kind, days) {
      await readSalt()
      await redis.hset(retentionKey, kind, days ?? 0)
    },

    async load() {
      const [salt, suppressed, retention] = await Promise.all([
        readSalt(),
        readInstallationHash(redis, suppressedKey),
        readInstallationHash(redis, retentionKey),
      ])
      const days = kinds.map((kind) => [kind, Number(retention[kind] ?? 0) || undefined])
      return {
        salt,
        suppressed: new Set(Object.keys(suppressed)),
        retentionDays: Object.fromEntries(days) as StoredPolicy['retentionDays'],
      }
    },
  }
}
