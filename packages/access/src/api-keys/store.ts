import { hash, randomBytes } from 'node:crypto'
import { readInstallationHash, type Redis } from '@intake/redis'

/** A stored key. The secret is shown once, at creation; only its hash is stored. */
export interface ApiKey {
  /** Public id of the key, stored in every row: `key_` and 12 hexadecimal digits. */
  id: string
  name: string
  /** The bundle identifiers that the key may write for; empty means all. */
  bundleIdentifiers: string[]
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601; null means never. */
  expiresAt: string | null
  /**
   * ISO 8601; null means not revoked. A revoked key is kept, so that it is not created again by
   * accident.
   */
  revokedAt: string | null
}

export interface ApiKeyStore {
  /**
   * Creates a key. With `secret`, that string becomes the key; if the key already exists, even
   * revoked, it is returned unchanged. Rejects a secret that is short, or that a header field
   * cannot carry.
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
  /** Rejects when Redis has lost its data, because an empty result would then be wrong. */
  load(): Promise<StoredKeys>
}

export interface StoredKeys {
  /** Keys by the hash of their secret. */
  keys: Map<string, ApiKey>
  /**
   * Entries that cannot be read, by the hash of their secret. The value is the id of the key or, if
   * that cannot be read either, the place of the entry.
   */
  unreadable: Map<string, string>
}

/**
 * The key of a Redis hash that maps the SHA-256 of a secret to its API key as JSON. Secrets have
 * 256 random bits, so they need no salt.
 */
const redisKey = '{intake}:api-keys'

const secretLengthMin = 16

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

export function createApiKeyStore({ redis }: { redis: Redis }): ApiKeyStore {
  async function load(): Promise<StoredKeys> {
    const stored: StoredKeys = { keys: new Map(), unreadable: new Map() }
    for (const [field, json] of Object.entries(await readInstallationHash(redis, redisKey))) {
      const entry = parseEntry(json)
      if (isApiKey(entry)) stored.keys.set(field, entry)
      else stored.unreadable.set(field, nameOf(field, json))
    }
    return stored
  }

  return {
    async create({ name, bundleIdentifiers = [], expiresAt, secret = generateSecret() }) {
      if (secret.length < secretLengthMin) {
        throw new Error(`an API key needs at least ${secretLengthMin} characters`)
      }
      if (!/^[!-~]([ -~]*[!-~])?$/.test(secret)) {
        throw new Error('an API key must be ASCII, and must not begin or end with a space')
      }
      const secretHash = hashSecret(secret)
      const key: ApiKey = {
        id: `key_${randomBytes(6).toString('hex')}`,
        name,
        // Stored in the form in which gateways compare identifiers.
        bundleIdentifiers: bundleIdentifiers.map((bundle) => bundle.toWellFormed()),
        createdAt: new Date().toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        revokedAt: null,
      }
      const created = (await redis.hsetnx(redisKey, secretHash, JSON.stringify(key))) === 1
      if (created) return { key, secret, created }
      const { keys, unreadable } = await load()
      const existing = keys.get(secretHash)
      if (existing === undefined) {
        // A damaged entry may belong to a revoked key, so it is not replaced.
        const damaged = unreadable.get(secretHash)
        throw new Error(
          damaged === undefined
            ? 'the key disappeared while it was being created'
            : `${damaged} has this secret, and its entry in Redis cannot be read`,
        )
      }
      return { key: existing, secret, created }
    },

    async list() {
      const { keys } = await load()
      return [...keys.values()].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
    },

    async revoke(id) {
      for (const [secretHash, key] of (await load()).keys) {
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

/** Parses an entry; undefined if it is not JSON. */
function parseEntry(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/**
 * Whether every field is as this version writes it; a later version may have added others. If a
 * damaged or missing field were accepted, the key could do more than it may: write for every
 * application, or never expire.
 */
function isApiKey(entry: unknown): entry is ApiKey {
  const { id, name, bundleIdentifiers, createdAt, expiresAt, revokedAt } = fieldsOf(entry)
  return (
    isId(id) &&
    typeof name === 'string' &&
    Array.isArray(bundleIdentifiers) &&
    bundleIdentifiers.every((one) => typeof one === 'string') &&
    isTime(createdAt) &&
    (expiresAt === null || isTime(expiresAt)) &&
    (revokedAt === null || isTime(revokedAt))
  )
}

/** Names an entry by its id, even if the entry was cut off; reveals nothing else of its content. */
function nameOf(field: string, json: string): string {
  const id = /"id":"(key_[\da-f]{12})"/.exec(json)?.[1]
  return id ?? `the entry ${field.slice(0, 8)}… of ${redisKey}`
}

const fieldsOf = (entry: unknown): Partial<Record<keyof ApiKey, unknown>> =>
  typeof entry === 'object' && entry !== null ? entry : {}
const isId = (id: unknown): id is string => typeof id === 'string' && /^key_[\da-f]{12}$/.test(id)
const isTime = (time: unknown) => typeof time === 'string' && !Number.isNaN(Date.parse(time))

function generateSecret(): string {
  return `ik_${randomBytes(32).toString('base64url')}`
}
