import { randomUUID } from 'node:crypto'

/** The context of a record that a gateway accepts, with a device of its own. */
export const context = () => ({
  bundle_identifier: 'com.example.app',
  device: { os: 'Android' },
  device_uuid: randomUUID(),
  unique_user_id: 'user-1',
})

interface Gateway {
  url: string
  apiKey: string
}

const requestMs = 60_000

/** Posts a log event; `record` may replace the context. */
export function postLog(
  { url, apiKey }: Gateway,
  log: object,
  { record = {}, headers = {} }: { record?: object; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/api/log`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...context(), ...record, log }),
    signal: AbortSignal.timeout(requestMs),
  })
}

/** Posts a feedback with images; `record` may replace the context. */
export function postFeedback(
  { url, apiKey }: Gateway,
  feedback: object,
  { record = {}, images = [] }: { record?: object; images?: readonly Uint8Array[] } = {},
): Promise<Response> {
  const body = new FormData()
  body.append('payload', JSON.stringify({ ...context(), ...record, feedback }))
  for (const [index, image] of images.entries()) {
    body.append('attachments', new Blob([new Uint8Array(image)]), `${index + 1}.png`)
  }
  const headers = { 'x-api-key': apiKey }
  const signal = AbortSignal.timeout(requestMs)
  return fetch(`${url}/api/feedback`, { method: 'POST', headers, body, signal })
}
