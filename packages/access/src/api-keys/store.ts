import { hash, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { parseOrigin } from '@intake/contract'
import { readInstallationHash, type Redis } from '@intake/redis'
import { changeHash } from '../change.ts'
import type { JournalAction } from '../journal.ts'
import { readRevision } from '../revision.ts'
import { normaliseBundle } from './bundles.ts'
import { isLimit, type KeyLimitName, type KeyLimits } from './key-limits.ts'
import { parseKey, type ApiKey } from './stored-key.ts'

/** Identifiers and origins are normalised; an invalid one causes a `RangeError`. */
export interface KeyRules {
  /** If empty, the key is for all applications. */
  bundleIdentifiers?: readonly string[]
  /** If empty, the key is for all clients. */
  origins?: readonly string[]
  /** Null removes the key's own limit, so that the gateway's limit applies. */
  limits?: Readonly<Partial<Record<KeyLimitName, number | null>>>
  /** Null if the key never expires. */
  expiresAt?: Date | null
}

/** The states of a key. The state of a revoked key never changes. */
export type KeyState = 'active' | 'suspended' | 'revoked'

interface StoredKeys {
  /** API keys by the hash of their secret. */
  keys: Map<string, ApiKey>
  /** By the hash of the secret: the id of the key, or a description if that is unreadable, too. */
  unreadable: Map<string, string>
}

/** Maps SHA-256 to keys as JSON. No salt is needed: a generated secret has 256 random bits. */
const redisKey = '{intake}:api-keys'
const storedKeys = { key: redisKey, isForGateways: true }

/** Replaces an entry only if it is still as read, so that another process's change is not undone. */
const replaceScript = `
if redis.call('HGET', KEYS[1], ARGV[3]) ~= ARGV[4] then return 0 end
announce()
redis.call('HSET', KEYS[1], ARGV[3], ARGV[5])
return 1`

/** Adds an entry, unless there is one. */
const createScript = `
if redis.call('HSETNX', KEYS[1], ARGV[3], ARGV[4]) == 0 then return 0 end
announce()
return 1`

/** So many entries take one to three milliseconds. */
const parsedPerTurn = 250
const secretLengthMin = 16
/** Attempts at a change, each of which fails if another process changes the entry meanwhile. */
const changesMax = 10

const stateActions: Record<KeyState, JournalAction> = {
  active: 'key-resumed',
  suspended: 'key-suspended',
  revoked: 'key-revoked',
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>

/** @param options.who who makes the changes, for the journal */
export function createApiKeyStore({ redis, who = '' }: { redis: Redis; who?: string }) {
  async function change(
    id: string,
    action: JournalAction,
    changed: (key: ApiKey) => ApiKey,
  ): Promise<ApiKey | undefined> {
    for (let attempt = 0; attempt < changesMax; attempt++) {
      const entries = [...(await readInstallationHash(redis, redisKey))]
      const [field, json = ''] = entries.find(([, one]) => parseKey(one)?.id === id) ?? []
      const key = parseKey(json)
      if (field === undefined || key === undefined || key.revokedAt !== null) return undefined
      const next = changed(key)
      if (isDeepStrictEqual(next, key)) return key
      const detail = { before: key, after: next }
      const replaced = await changeHash(redis, {
        hash: storedKeys,
        script: replaceScript,
        args: [field, json, JSON.stringify(next)],
        entry: { who, action, subject: id, detail },
      })
      if (replaced === 1) return next
    }
    throw new Error(`the key ${id} is being changed by others`)
  }

  return {
    /**
     * Creates a key with the given `secret`, or with a random one. A key that already has this
     * secret, even a revoked one, is returned unchanged. Rejects a secret of less than 16
     * characters, or one that a header field cannot carry.
     */
    async create(
      options: KeyRules & { name: string; secret?: string },
    ): Promise<{ key: ApiKey; secret: string; created: boolean }> {
      const { name, secret = generateSecret(), ...rules } = options
      checkSecret(secret)
      const secretHash = hashSecret(secret)
      const key = withRules(newKey(name), rules)
      const added = await changeHash(redis, {
        hash: storedKeys,
        script: createScript,
        args: [secretHash, JSON.stringify(key)],
        entry: { who, action: 'key-created', subject: key.id, detail: key },
      })
      if (added === 1) return { key, secret, created: true }
      return { key: existing(await load(redis), secretHash), secret, created: false }
    },

    async list(): Promise<ApiKey[]> {
      const { keys } = await load(redis)
      return [...keys.values()].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
    },

    /** Changes only the given rules; undefined when there is no such key or it is revoked. */
    set: (id: string, { name, ...rules }: KeyRules & { name?: string }) =>
      change(id, 'key-set', (key) => withRules({ ...key, name: name ?? key.name }, rules)),

    /** Undefined when there is no such key or it is revoked. */
    setState(id: string, state: KeyState): Promise<ApiKey | undefined> {
      const now = new Date().toISOString()
      return change(id, stateActions[state], (key) => ({
        ...key,
        suspendedAt: state === 'suspended' ? (key.suspendedAt ?? now) : null,
        revokedAt: state === 'revoked' ? now : null,
      }))
    },

    /** Changes with each change of a key. Rejects when Redis has lost its data. */
    revision: () => readRevision(redis),
    /**
     * Reads all keys, in turns that do not block. Rejects when Redis has lost its data.
     *
     * @param known the keys as read before; unchanged ones are kept, so that a reading of many
     * leaves little garbage
     */
    load: (known?: ReadonlyMap<string, ApiKey>) => load(redis, known),
  }
}

async function load(redis: Redis, known?: ReadonlyMap<string, ApiKey>): Promise<StoredKeys> {
  const stored: StoredKeys = { keys: new Map(), unreadable: new Map() }
  let inTurn = 0
  for (const [field, json] of await readInstallationHash(redis, redisKey)) {
    if (++inTurn % parsedPerTurn === 0) await nextTurn()
    const before = known?.get(field)
    const isUnchanged = before !== undefined && JSON.stringify(before) === json
    const key = isUnchanged ? before : parseKey(json)
    if (key !== undefined) stored.keys.set(field, key)
    else stored.unreadable.set(field, nameOf(field, json))
  }
  return stored
}

/** @throws {Error} if the entry of the key cannot be read */
function existing({ keys, unreadable }: StoredKeys, secretHash: string): ApiKey {
  const key = keys.get(secretHash)
  if (key !== undefined) return key
  // A damaged entry may belong to a revoked key, so it is not replaced.
  const damaged = unreadable.get(secretHash)
  throw new Error(
    damaged === undefined
      ? 'the key disappeared while it was being created'
      : `${damaged} has this secret, and its entry in Redis cannot be read`,
  )
}

const newKey = (name: string): ApiKey => ({
  id: `key_${randomBytes(6).toString('hex')}`,
  name,
  bundleIdentifiers: [],
  origins: [],
  limits: {},
  createdAt: new Date().toISOString(),
  expiresAt: null,
  suspendedAt: null,
  revokedAt: null,
})

/** @throws {RangeError} for a rule that is invalid, or that no request could satisfy */
function withRules(key: ApiKey, rules: KeyRules): ApiKey {
  const { bundleIdentifiers, origins, limits, expiresAt } = rules
  return {
    ...key,
    // Entries are stored in the form in which gateways compare them.
    bundleIdentifiers: bundleIdentifiers?.map(normaliseBundle) ?? key.bundleIdentifiers,
    origins: origins?.map(normaliseOrigin) ?? key.origins,
    limits: withLimits(key.limits, limits ?? {}),
    expiresAt: expiresAt === undefined ? key.expiresAt : (expiresAt?.toISOString() ?? null),
  }
}

function withLimits(known: KeyLimits, changes: NonNullable<KeyRules['limits']>): KeyLimits {
  const merged = Object.entries({ ...known, ...changes }).filter(([, value]) => value !== null)
  const wrong = merged.find(([, value]) => !isLimit(value))
  if (wrong !== undefined) throw new RangeError(`${wrong[0]} must be a whole number from 1`)
  return Object.fromEntries(merged)
}

function normaliseOrigin(text: string): string {
  const origin = parseOrigin(text)
  if (origin !== undefined) return origin
  throw new RangeError(
    `${JSON.stringify(text)} is no origin: write scheme, host and port, such as https://app.example`,
  )
}

/** Returns the id in a damaged entry, or a description of the entry if it contains no id. */
function nameOf(field: string, json: string): string {
  const id = /"id":"(key_[\da-f]{12})"/.exec(json)?.[1]
  return id ?? `the entry ${field.slice(0, 8)}… of ${redisKey}`
}

function checkSecret(secret: string): void {
  if (secret.length < secretLengthMin) {
    throw new Error(`an API key needs at least ${secretLengthMin} characters`)
  }
  if (!/^[!-~]([ -~]*[!-~])?$/.test(secret)) {
    throw new Error('an API key must be ASCII, and must not begin or end with a space')
  }
}

function generateSecret(): string {
  return `ik_${randomBytes(32).toString('base64url')}`
}
