import { createHmac } from 'node:crypto'

const base64Prefix = 'whsec_'

/**
 * Returns the signature of a request as the Standard Webhooks specification defines it: HMAC-SHA256
 * of id, time and body, in base64, with the version of the scheme.
 *
 * @param secret `whsec_` and the key in base64, or a text whose bytes are the key
 * @param timestamp seconds since 1970
 */
export function signatureOf(options: {
  secret: string
  id: string
  timestamp: number
  body: string
}): string {
  const { secret, id, timestamp, body } = options
  const key = secret.startsWith(base64Prefix)
    ? Buffer.from(secret.slice(base64Prefix.length), 'base64')
    : Buffer.from(secret)
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return `v1,${digest}`
}
