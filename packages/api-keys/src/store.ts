import { hash, randomBytes } from 'node:crypto'
import type { Redis } from '@intake/redis'

/** What is known of a key. The key itself is shown once, at creation, and stored only as a hash. */
export interface ApiKey {
  /** Public name of the key, as it stands in every row: `key_` and 12 hexadecimal digits. */
  id: string
  name: string
  /** The bundle identifiers it may write for; empty: all. */
  bundleIdentifiers: string[]
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601; null: never. */
  expiresAt: string | null
}

export interface ApiKeyStore {
  /**
   * Creates a key. With `secret`, that very string becomes the key, and a key that already exists
   * under it is returned unchanged.
   */
  create(options: {
    name: string
    bundleIdentifiers?: string[]
    expiresAt?: Date
    secret?: string
  }): Promise<{ key: ApiKey; secret: string }>
  list(): Promise<ApiKey[]>
  /** Resolves to whether there was such a key. */
  revoke(id: string): Promise<boolean>
  /** Every key by the hash of its secret. */
  load(): Promise<Map<string, ApiKey>>
}

/** One hash: SHA-256 of the secret to the key as JSON. The secrets have 256 random bits, so no salt is needed. */
const redisKey = '{intake}:api-keys'

export const secretLengthMin = 16

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

export function createApiKeyStore({ redis }: { redis: Redis }): ApiKeyStore {
  async function load(): Promise<Map<string, ApiKey>> {
    const stored = await redis.hgetall(redisKey)
    return new Map(
      Object.entries(stored).map(([secretHash, json]) => [secretHash, JSON.parse(json) as ApiKey]),
    )
  }

  return {
    async create({ name, bundleIdentifiers = [], expiresAt, secret = generateSecret() }) {
      if (secret.length < secretLengthMin) {
        throw new Error(`an API key needs at least ${secretLengthMin} characters`)
      }
      const secretHash = hashSecret(secret)
      const key: ApiKey = {
        id: `key_${randomBytes(6).toString('hex')}`,
        name,
        bundleIdentifiers,
        createdAt: new Date().toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
      }
      if ((await redis.hsetnx(redisKey, secretHash, JSON.stringify(key))) === 1)
        return { key, secret }
      const existing = (await load()).get(secretHash)
      if (existing === undefined) throw new Error('the key was revoked while it was being created')
      return { key: existing, secret }
    },

    async list() {
      const keys = [...(await load()).values()]
      return keys.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
    },

    async revoke(id) {
      for (const [secretHash, key] of await load()) {
        if (key.id === id) return (await redis.hdel(redisKey, secretHash)) === 1
      }
      return false
    },

    load,
  }
}

function generateSecret(): string {
  return `ik_${randomBytes(32).toString('base64url')}`
}
