import { createHmac, createSecretKey } from 'node:crypto'
import type { Change } from './edit-path.ts'

const hashLength = 32

/**
 * Replaces a value by 128 bits of its HMAC-SHA256, in hexadecimal: equal values stay equal, so
 * records still join, and without the secret nobody can try out all telephone numbers. A number is
 * hashed like its text. Of an object or a list every value in it is hashed.
 *
 * @param secret base64
 */
export function createHashValues(secret: string): Change {
  const key = createSecretKey(secret, 'base64')
  const hashText = (text: string) =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, hashLength)

  function hashValue(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return hashText(value)
      case 'number':
      case 'bigint':
      case 'boolean':
        return hashText(String(value))
      default:
        return hashMembers(value)
    }
  }

  function hashMembers(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(hashValue)
    const hashed = Object.entries(value).map(([name, inner]) => [name, hashValue(inner)])
    return Object.assign(Object.create(null) as object, Object.fromEntries(hashed))
  }

  return hashValue
}
