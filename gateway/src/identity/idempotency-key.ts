import { hash } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import { IntakeError, limits } from '@intake/contract'
import type { LogEntry, Sender } from '@intake/contract/schemas'
import { headerKey } from '@intake/identity'
import { escapedSurrogate, wellFormed } from '@intake/json'

/**
 * Returns the key in an `Idempotency-Key` header; undefined without the header.
 *
 * @throws {IntakeError} `invalid_request` when it is empty or too long
 */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && header !== '' && header.length <= limits.identifierLength) {
    return headerKey(header)
  }
  throw new IntakeError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${limits.identifierLength} bytes.`,
  )
}

/**
 * Returns the content that identifies a log event. It is the same for `POST /api/log` and for an
 * entry of a batch, so that a client may repeat a single event in a batch. The timestamp from the
 * device and unknown fields are not part of the content.
 */
export function logContent(sender: Sender, { event, params }: LogEntry): readonly unknown[] {
  return [sender.bundle_identifier, sender.unique_user_id, event, params ?? {}]
}

/**
 * Computes a hash that distinguishes contents. Key order is ignored, because clients may serialise
 * the object anew for every attempt. A lone surrogate counts as U+FFFD, as in the row. So if a
 * client keeps its events as UTF-8 and sends U+FFFD in the second attempt, the hash is the same.
 *
 * @returns 48 bits in hexadecimal
 */
export function fingerprintOf(content: readonly unknown[]): string {
  const json = stringify(content)
  const stored = json.includes(escapedSurrogate)
    ? String(stringify(content, (_, value: unknown) => wellFormed(value)))
    : json
  return hash('sha256', stored).slice(0, 12)
}
