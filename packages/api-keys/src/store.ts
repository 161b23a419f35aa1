import { hash, randomBytes } from 'node:crypto'
import { installationKey, type Redis } from '@intake/redis'

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
  /** ISO 8601; null: in force. A revoked key is kept, so that it is not created again by accident. */
  revokedAt: string | null
}

export interface ApiKeyStore {
  /**
   * Creates a key. With `secret`, that very string becomes the key, and a key that already exists
   * under it, even a revoked one, is returned unchanged.
   */
  create(options: {
    name: string
    bundleIdentifiers?: string[]
    expiresAt?: Date
    secret?: string
  }): Promise<{ key: ApiKey; secret: string; created: boolean }>
  list(): Promise<ApiKey[]>
  /** Resolves to whether there was such a key in force. */
  revoke(id: string): Promise<boolean>
  /**
   * Every key by the hash of its secret. Rejects when Redis has lost its data: no keys is then not
   * the truth.
   */
  load(): Promise<Map<string, ApiKey>>
}

/** One hash: SHA-256 of the secret to the key as JSON. The secrets have 256 random bits, so no salt is needed. */
const redisKey = '{intake}:api-keys'

const secretLengthMin = 16

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

export function createApiKeyStore({ redis }: { redis: Redis }): ApiKeyStore {
  async function load(): Promise<Map<string, ApiKey>> {
    const [mark, keys] = (await redis.multi().get(installationKey).hgetall(redisKey).exec()) ?? []
    if (mark?.[1] == null) throw new Error('Redis belongs to no installation')
    const stored = keys?.[1] as Record<string, string>
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
        revokedAt: null,
      }
      const created = (await redis.hsetnx(redisKey, secretHash, JSON.stringify(key))) === 1
      if (created) return { key, secret, created }
      const existing = (await load()).get(secretHash)
      if (existing === undefined) throw new Error('the key went away while it was being created')
      return { key: existing, secret, created }
    },

    async list() {
      const keys = [...(await load()).values()]
      return keys.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
    },

    async revoke(id) {
      for (const [secretHash, key] of await load()) {
        if (key.id !== id || key.revokedAt !== null) continue
        const revoked: ApiKey = { ...key, revokedAt: new Date().toISOString() }
        await redis.hset(redisKey, secretHash, JSON.stringify(revoked))
        return true
      }
      return false
    },

    load,
  }
}

function generateSecret(): string {
  return `ik_${randomBytes(32).toString('base64url')}`
}
