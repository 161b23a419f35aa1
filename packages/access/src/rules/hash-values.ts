import { createHmac, createSecretKey } from 'node:crypto'
import type { Change } from './edit-paths.ts'

const hashLength = 32
/** Values of one part of a record that are hashed, in about two milliseconds. */
const hashedValuesMax = 1_000

/**
 * Replaces values, also in objects and lists, by 128 bits of their HMAC-SHA256, in hexadecimal:
 * records can still be joined, but without the secret nobody can test whether a hash is, for
 * example, that of a telephone number. A number is hashed like its text.
 *
 * @param secret in base64
 * @returns creates the change for one part of one record, which removes values after the first
 * thousand
 */
export function createHashValues(secret: string): () => Change {
  const key = createSecretKey(secret, 'base64')
  const hashText = (text: string) =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, hashLength)

  return () => {
    let hashed = 0
    return function hashValue(value: unknown): unknown {
      if (value === null || value === undefined) return value
      if (Array.isArray(value)) return value.map(hashValue)
      if (typeof value === 'object') {
        const entries = Object.entries(value).map(([name, inner]) => [name, hashValue(inner)])
        return Object.assign(Object.create(null) as object, Object.fromEntries(entries))
      }
      if (++hashed > hashedValuesMax) return undefined
      return hashText(`${value as string | number | bigint | boolean}`)
    }
  }
}
