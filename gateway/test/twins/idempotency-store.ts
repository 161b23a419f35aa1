import { IntakeError } from '@intake/contract'
import type { IdempotencyStore } from '../../src/identity/idempotency-store.ts'

/** Keeps reservations in memory, without limits. */
export function createMemoryIdempotencyStore(): IdempotencyStore {
  const reservations = new Map<string, { fingerprint: string; id: string }>()
  return {
    async reserve({ scope, bundleIdentifier, deviceUuid, key, fingerprint, id }) {
      const name = JSON.stringify([scope, bundleIdentifier, deviceUuid.toLowerCase(), key])
      const earlier = reservations.get(name)
      if (earlier === undefined) reservations.set(name, { fingerprint, id })
      else if (earlier.fingerprint !== fingerprint) {
        throw new IntakeError('idempotency_key_reused', 'used')
      }
      return earlier?.id ?? id
    },
  }
}
