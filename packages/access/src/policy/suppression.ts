import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** A sender whose records gateways acknowledge but do not store. */
export interface Suppression {
  kind: 'user' | 'device'
  /** `unique_user_id`, or `device_uuid` in lower case. */
  id: string
  /** The application whose records are not stored; undefined means every application. */
  bundleIdentifier?: string | undefined
}

/** The key of a Redis hash that maps hashes of suppressed senders to the time of suppression. */
export const suppressedKey = '{intake}:suppressed'

/**
 * Derives the key of all hashes that stand for a person or device. Rules hash values with the
 * secret itself, and anyone may see the hash of a value that they sent.
 *
 * @param secret in base64
 */
export function deriveSubjectKey(secret: string): KeyObject {
  const secretKey = createSecretKey(secret, 'base64')
  return createSecretKey(createHmac('sha256', secretKey).update('subjects').digest())
}

/** Without the key, nobody can test whether a known id is on the list. */
export function suppressionHash(
  key: KeyObject,
  { kind, id, bundleIdentifier = '' }: Suppression,
): string {
  const text = JSON.stringify(['suppression', kind, bundleIdentifier, id])
  return `hmac-sha256:${createHmac('sha256', key).update(text).digest('base64')}`
}
