import { IntakeError, type RecordKind } from '@intake/contract'
import type { IdempotencyStore } from '@intake/identity'
import type { GatewayPorts } from '@intake/gateway'
import { decompress, type Compressed } from '@intake/queue/frame'
import type { RecordStore } from './record-store.ts'

type Rules = ReturnType<GatewayPorts['policy']['rules']>

const noRules: Rules = { active: [], forSender: () => undefined }

export interface MemoryIdempotencyStore extends IdempotencyStore {
  clear(): void
}

/**
 * Creates an empty store of reservations.
 *
 * @param options.keysMax maximum number of idempotency keys (default: no limit); further keys are
 * refused with `keys_full`
 */
export function createMemoryIdempotencyStore(
  options: { keysMax?: number } = {},
): MemoryIdempotencyStore {
  const { keysMax = Infinity } = options
  const reservations = new Map<string, { fingerprint: string; id: string }>()
  return {
    async reserve({ scope, bundleIdentifier, deviceUuid, key, fingerprint, id }) {
      const name = JSON.stringify([scope, bundleIdentifier, deviceUuid.toLowerCase(), key])
      const earlier = reservations.get(name)
      if (earlier === undefined) {
        if (reservations.size >= keysMax) {
          throw new IntakeError('keys_full', 'There is no room for a new idempotency key now.')
        }
        reservations.set(name, { fingerprint, id })
        return id
      }
      if (earlier.fingerprint === fingerprint) return earlier.id
      throw new IntakeError(
        'idempotency_key_reused',
        'A record with another payload was sent under this key before.',
      )
    },
    clear: () => reservations.clear(),
  }
}

/**
 * The ports of a gateway that keeps its records in memory. Pictures are checked and described, but
 * their bytes are not kept.
 *
 * @param options.apiKey the secret of the only key, which may write for every application
 * @param options.rules default: none
 */
export function createMemoryPorts(options: {
  apiKey: string
  records: RecordStore
  idempotency: IdempotencyStore
  apiKeyId?: string
  rules?: Rules
}): Omit<GatewayPorts, 'limiter'> {
  const { apiKey, records, idempotency, apiKeyId = 'key_sandbox', rules = noRules } = options
  const key = {
    id: apiKeyId,
    name: 'sandbox',
    bundleIdentifiers: [],
    origins: [],
    limits: {},
    createdAt: new Date().toISOString(),
    expiresAt: null,
    suspendedAt: null,
    revokedAt: null,
  }
  const queue = (kind: RecordKind) => ({
    async add(frame: Compressed) {
      for (const row of decompress(frame).toString().trimEnd().split('\n')) records.add(kind, row)
    },
  })
  return {
    apiKeys: {
      isLoaded: () => true,
      find: (secret) => (secret === apiKey ? key : undefined),
    },
    attachments: { put: async () => undefined, remove: async () => undefined },
    idempotency,
    policy: {
      isLoaded: () => true,
      retentionMs: () => undefined,
      isSuppressed: () => false,
      rules: () => rules,
    },
    queues: { logs: queue('logs'), feedback: queue('feedback') },
  }
}
