import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { postFeedback, postLog } from '@intake/test-kit/post'

const images = [readFileSync(new URL('../images/screenshot.png', import.meta.url))]

/**
 * Sends a log five times a second and a feedback with an image once a second, regardless of the
 * responses.
 */
export function startSender(gateway: { url: string; apiKey: string }): { stop(): Promise<void> } {
  const stop = new AbortController()

  async function repeat(everyMs: number, send: () => Promise<Response>): Promise<void> {
    const sent = new Set<Promise<unknown>>()
    while (!stop.signal.aborted) {
      const one = send()
        .then((response) => response.arrayBuffer())
        // The state under test may make requests fail.
        .catch(() => undefined)
      sent.add(one)
      void one.finally(() => sent.delete(one))
      await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await Promise.all(sent)
  }

  const loops = [
    repeat(200, () => postLog(gateway, { event: 'screen_view' })),
    repeat(1_000, () => postFeedback(gateway, { text: 'It broke.' }, { images })),
  ]
  return {
    async stop() {
      stop.abort()
      await Promise.all(loops)
    },
  }
}
