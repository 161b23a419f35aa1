import { createHash } from 'node:crypto'
import { printUuid, type RecordKind } from '@intake/contract'

/** The same text in two scopes is two different keys. */
export type KeyScope = RecordKind | 'batches'

/** The same text from another device or application is a different key. */
export interface ClientKey {
  scope: KeyScope
  bundleIdentifier: string
  deviceUuid: string
  key: string
}

/** The value that Redis stores under a key. */
export interface Reserved {
  id: string
  /** 48 bits of a hash, in hexadecimal, by which other content under the same key is noticed. */
  fingerprint: string
}

const fieldBytes = 9
const idBytes = 16

/** The kind of record in whose buckets (see `bucketsOf`) the reservations of a scope are stored. */
export const kindOfScope = (scope: KeyScope): RecordKind =>
  scope === 'feedback' ? 'feedback' : 'logs'

export function hashKey({ scope, bundleIdentifier, deviceUuid, key }: ClientKey): Buffer {
  const name = JSON.stringify([scope, bundleIdentifier, deviceUuid.toLowerCase(), key])
  return createHash('sha256').update(name).digest()
}

/** The name of the field that stores a key in its bucket (a Redis hash). */
export const fieldOf = (keyHash: Buffer): Buffer => keyHash.subarray(-fieldBytes)

export function printReserved({ id, fingerprint }: Reserved): Buffer {
  return Buffer.from(id.replaceAll('-', '') + fingerprint, 'hex')
}

export function parseReserved(value: Buffer): Reserved {
  return {
    id: printUuid(value.subarray(0, idBytes).toString('hex')),
    fingerprint: value.subarray(idBytes).toString('hex'),
  }
}
