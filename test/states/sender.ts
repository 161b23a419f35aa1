import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const image = readFileSync(new URL('../images/screenshot.png', import.meta.url))
const requestMs = 60_000
const device = { os: 'Android' }

/**
 * Sends a log five times a second and a feedback with an image once a second, regardless of the
 * responses.
 */
export function startSender({ url, apiKey }: { url: string; apiKey: string }): {
  stop(): Promise<void>
} {
  const stop = new AbortController()
  const sender = () => ({
    bundle_identifier: 'com.example.app',
    device,
    device_uuid: randomUUID(),
    unique_user_id: 'user-1',
  })

  async function send(path: string, body: string | FormData): Promise<void> {
    const isJson = typeof body === 'string'
    const headers = {
      'x-api-key': apiKey,
      ...(isJson && { 'content-type': 'application/json' }),
    }
    const signal = AbortSignal.timeout(requestMs)
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body, signal })
    await response.arrayBuffer()
  }

  function feedback(): FormData {
    const form = new FormData()
    form.set('payload', JSON.stringify({ ...sender(), feedback: { text: 'It broke.' } }))
    form.set('attachments', new Blob([image], { type: 'image/png' }), 'screenshot.png')
    return form
  }

  async function repeat(everyMs: number, sendOne: () => Promise<void>): Promise<void> {
    const sent = new Set<Promise<void>>()
    while (!stop.signal.aborted) {
      // The state under test may make requests fail.
      const one = sendOne().catch(() => undefined)
      sent.add(one)
      void one.finally(() => sent.delete(one))
      await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await Promise.all(sent)
  }

  const log = () => JSON.stringify({ ...sender(), log: { event: 'screen_view' } })
  const loops = [
    repeat(200, () => send('/api/log', log())),
    repeat(1_000, () => send('/api/feedback', feedback())),
  ]
  return {
    async stop() {
      stop.abort()
      await Promise.all(loops)
    },
  }
}
