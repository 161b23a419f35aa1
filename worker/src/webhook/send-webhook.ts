import { signatureOf } from './signature.ts'

const timeoutMs = 10_000

/**
 * Posts a signed body. Resolves when the receiver has responded with 2xx. Rejects for any other
 * status, and when there is no response for ten seconds. Redirects are not followed.
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
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`the receiver responded with ${response.status}`)
}
