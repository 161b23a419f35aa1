import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export interface Load {
  /** Responses so far, by status. */
  statuses: Map<number, number>
  /**
   * Ends the load; resolves when no request is in progress. Rejects if a request failed without a
   * response.
   */
  stop(): Promise<void>
}

interface Request {
  path: string
  body: string | FormData
  apiKey?: string
}

const image = readFileSync(new URL('../images/screenshot.png', import.meta.url))
const requestMs = 60_000
const sender = () => ({
  bundle_identifier: 'com.example.app',
  device: { os: 'Android', device_model: 'Pixel 8', battery_level: 81.5 },
  device_uuid: randomUUID(),
  unique_user_id: `user-${Math.floor(Math.random() * 1000)}`,
})
const log = () => ({ event: 'screen_view', params: { screen: 'home', took_ms: Math.random() } })
const logRequest = (extra: object = {}) => ({
  path: '/api/log',
  body: JSON.stringify({ ...sender(), log: { ...log(), ...extra } }),
})

/** The requests that each sender repeats, and how long it pauses after each. */
const senders: { pauseMs: number; request: () => Request }[] = [
  { pauseMs: 20, request: () => logRequest() },
  // An id that is no UUIDv7 needs a reservation in Redis.
  { pauseMs: 50, request: () => logRequest({ id: randomUUID() }) },
  { pauseMs: 200, request: () => batch(25) },
  { pauseMs: 400, request: feedback },
  // The following senders make mistakes.
  { pauseMs: 1_000, request: () => batch(3, [{ event: '' }]) },
  { pauseMs: 1_000, request: () => ({ path: '/api/log', body: '{' }) },
  {
    pauseMs: 1_000,
    request: () => ({ ...logRequest(), apiKey: 'not a key of this installation' }),
  },
]

function batch(entries: number, extra: object[] = []): Request {
  const logs = [...Array.from({ length: entries }, log), ...extra]
  return { path: '/api/log/batch', body: JSON.stringify({ ...sender(), logs }) }
}

function feedback(): Request {
  const form = new FormData()
  const text = { email: 'user@example.com', text: 'It broke.' }
  form.append('payload', JSON.stringify({ ...sender(), feedback: text }))
  form.append('attachments', new Blob([image]), 'screenshot.png')
  return { path: '/api/feedback', body: form }
}

/** Sends every kind of request to a gateway, good ones and bad ones, until `stop` is called. */
export function startLoad(options: { gateway: string; apiKey: string }): Load {
  const statuses = new Map<number, number>()
  const stopping = new AbortController()

  async function send({ path, body, apiKey = options.apiKey }: Request): Promise<void> {
    const response = await fetch(options.gateway + path, {
      method: 'POST',
      headers: {
        'x-api-key': apiKey,
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      },
      body,
      signal: AbortSignal.timeout(requestMs),
    })
    await response.arrayBuffer()
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }

  const ended = Promise.all(
    senders.map(async ({ pauseMs, request }) => {
      while (!stopping.signal.aborted) {
        await send(request())
        await pause(pauseMs)
      }
    }),
  )
  ended.catch(() => undefined) // reported by stop()
  return {
    statuses,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
