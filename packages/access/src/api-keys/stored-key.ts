import { parseOrigin } from '@intake/contract'
import { tryJson } from '@intake/runtime'
import { isLimit, keyLimitNames, type KeyLimits } from './key-limits.ts'

/** A stored key. The secret is shown once, at creation; only its hash is stored. */
export interface ApiKey {
  /** Public id of the key, stored in every row: `key_` and 12 hexadecimal digits. */
  id: string
  name: string
  /** The bundle identifiers that the key may write for (see `allowsBundle`); empty means all. */
  bundleIdentifiers: string[]
  /** The origins whose pages may use the key, as browsers send them; empty means all clients. */
  origins: string[]
  limits: KeyLimits
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601; null means never. */
  expiresAt: string | null
  /** ISO 8601; null: not suspended. Requests are refused, and senders keep their records. */
  suspendedAt: string | null
  /** ISO 8601; null: not revoked. Kept, so that nobody creates a valid key with this secret. */
  revokedAt: string | null
}

/**
 * Reads a key that any version, even a later one, has stored. Undefined if a field is damaged or
 * missing: it could allow too much, such as every application. Fields of a later version are kept.
 */
export function parseKey(json: string): ApiKey | undefined {
  const entry = Object(tryJson(json)) as Partial<Record<keyof ApiKey, unknown>>
  return isKey(entry) ? entry : undefined
}

function isKey(entry: Partial<Record<keyof ApiKey, unknown>>): entry is ApiKey {
  const { id, name, bundleIdentifiers, origins, limits } = entry
  const { createdAt, expiresAt, suspendedAt, revokedAt } = entry
  return (
    isId(id) &&
    typeof name === 'string' &&
    areTexts(bundleIdentifiers) &&
    areTexts(origins) &&
    origins.every((one) => parseOrigin(one) === one) &&
    areLimits(limits) &&
    isTime(createdAt) &&
    [expiresAt, suspendedAt, revokedAt].every((time) => time === null || isTime(time))
  )
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

function areLimits(value: unknown): value is KeyLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const limits = value as Record<string, unknown>
  return keyLimitNames.every((name) => limits[name] === undefined || isLimit(limits[name]))
}

const isId = (id: unknown): id is string => typeof id === 'string' && /^key_[\da-f]{12}$/.test(id)
const isTime = (time: unknown): time is string =>
  typeof time === 'string' && !Number.isNaN(Date.parse(time))
