import { hash, randomBytes } from 'node:crypto'
import { readInstallationHash, type Redis } from '@intake/redis'

/** A stored key. The secret is shown once, at creation; only its hash is stored. */
export interface ApiKey {
  /** Public id of the key, stored in every row: `key_` and 12 hexadecimal digits. */
  id: string
  name: string
  /** The bundle identifiers that the key may write for; empty: all. */
  bundleIdentifiers: string[]
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601; null: never. */
  expiresAt: string | null
  /**
   * ISO 8601; null: not revoked. A revoked key is kept, so that it is not created again by accident.
   */
  revokedAt: string | null
}

export interface ApiKeyStore {
  /**
   * Creates a key. With `secret`, that string becomes the key; if the key already exists, even revoked,
   * it is returned unchanged.
   */
  create(options: {
    name: string
    bundleIdentifiers?: string[]
    expiresAt?: Date
    secret?: string
  }): Promise<{ key: ApiKey; secret: string; created: boolean }>
  list(): Promise<ApiKey[]>
  /** Resolves to false when there is no such key or it is already revoked. */
  revoke(id: string): Promise<boolean>
  /**
   * All keys, by the hash of their secret. Rejects when Redis has lost its data, because an empty
   * result would then be wrong.
   */
  load(): Promise<Map<string, ApiKey>>
}

/**
 * One hash: SHA-256 of the secret to the key as JSON. Secrets have 256 random bits, so they need no
 * salt.
 */
const redisKey = '{intake}:api-keys'

const secretLengthMin = 16

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

export function createApiKeyStore({ redis }: { redis: Redis }): ApiKeyStore {
  async function load(): Promise<Map<string, ApiKey>> {
    const stored = await readInstallationHash(redis, redisKey)
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
      if (existing === undefined) throw new Error('the key disappeared while it was being created')
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
