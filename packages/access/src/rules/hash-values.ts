import { createHmac, createSecretKey } from 'node:crypto'
import type { Change } from './edit-paths.ts'

const hashLength = 32
/**
 * The maximum number of values that are hashed in one part of a record. Hashing this many takes
 * about two milliseconds.
 */
const hashedValuesMax = 1_000

/**
 * Prepares changes that replace a value by 128 bits of its HMAC-SHA256, in hexadecimal. Equal
 * values have equal hashes, so records can still be joined. Without the secret, nobody can test
 * whether a hash belongs to, for example, a certain telephone number. A number is hashed like its
 * text. In an object or a list, every value is hashed.
 *
 * @param secret in base64
 * @returns a function that creates the change for one part of one record. The change removes values
 * after the first thousand, so that no record occupies the gateway for long.
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
