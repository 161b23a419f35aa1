import { Agent, request } from 'undici'
import type { Attacker } from '../hostile-case.ts'
import { createTally, type Tally } from './exchange.ts'
import { repeat, wait } from './loops.ts'

const timeoutMs = 40_000

/** Sends well-formed requests, the next of a lane when the last one has its response. */
export async function flood(
  attacker: Attacker,
  options: {
    lanes: number
    pauseMs?: number
    path: string
    headers?: Record<string, string>
    /** Of the next request. */
    body: () => Buffer | string
    /** Headers of the next request only. */
    vary?: () => Record<string, string>
  },
): Promise<Tally> {
  const { lanes, pauseMs = 0, path, headers = {}, body, vary } = options
  const { port, apiKey, signal } = attacker
  const dispatcher = new Agent({
    connections: lanes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  const { tally, add } = createTally()

  const send = async () => {
    const started = performance.now()
    const ms = () => Math.round(performance.now() - started)
    try {
      const response = await request(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        dispatcher,
        signal,
        headers: {
          'x-api-key': apiKey,
          'content-type': 'application/json',
          ...headers,
          ...vary?.(),
        },
        body: body(),
      })
      await response.body.dump()
      add({ status: response.statusCode, ms: ms(), silent: false })
    } catch {
      // What the end of the attack has cut off is no outcome.
      if (signal.aborted) return
      add({ status: 0, ms: ms(), silent: ms() >= timeoutMs })
      await wait(100, signal)
    }
  }
  await repeat({ lanes, pauseMs, signal }, send)
  await dispatcher.destroy()
  return tally
}
