import { createHmac } from 'node:crypto'
import { describeError } from '@intake/clickhouse'
import { FinalDeliveryError } from '@intake/queue/consume'

const timeoutMs = 10_000
/** The statuses 4xx after which the same request can succeed: a timeout, and too many requests. */
const passingStatuses = new Set([408, 429])

/**
 * Posts a signed body. Resolves when the receiver has responded with 2xx. Rejects for any other
 * status, and when there is no response for ten seconds. Redirects are not followed.
 *
 * @throws {FinalDeliveryError} if the receiver refuses the request (4xx)
 */
export async function sendWebhook(options: {
  url: string
  secret: string
  token?: string | undefined
  /** The id of the message, the same for every attempt. */
  id: string
  body: string
  signal: AbortSignal
}): Promise<void> {
  const { url, secret, token, id, body, signal } = options
  const timestamp = Math.floor(Date.now() / 1000)
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // GitHub refuses requests without this header.
      'user-agent': 'intake',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ secret, id, timestamp, body }),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    const reason = timeout.aborted ? `silent for ${timeoutMs / 1000} s` : describeError(error)
    throw new Error(`the receiver did not respond: ${reason}`, { cause: error })
  })
  await response.body?.cancel()
  const { status } = response
  if (response.ok) return
  const message = `the receiver responded with ${status}`
  const isFinal = status >= 400 && status < 500 && !passingStatuses.has(status)
  throw isFinal ? new FinalDeliveryError(message) : new Error(message)
}

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
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret)
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return `v1,${digest}`
}
