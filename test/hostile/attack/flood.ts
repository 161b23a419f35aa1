import { Agent, request } from 'undici'
import type { Attacker } from '../hostile-case.ts'
import { createTally, type Tally } from './exchange.ts'
import { repeat, wait } from './loops.ts'

const timeoutMs = 40_000

/**
 * Sends well-formed requests in parallel lanes. Each lane sends its next request after the response
 * to its previous request.
 */
export async function flood(
  attacker: Attacker,
  options: {
    lanes: number
    pauseMs?: number
    /** POST by default. */
    method?: 'GET' | 'POST'
    path: string
    headers?: Record<string, string>
    /** Returns the body of the next request. */
    body: () => Buffer | string
    /** Returns headers that only the next request has. */
    vary?: () => Record<string, string>
    onStatus?: (status: number) => void
  },
): Promise<Tally> {
  const { lanes, pauseMs = 0, method = 'POST', path, headers = {}, body, vary, onStatus } = options
  const { port, apiKey, signal } = attacker
  const dispatcher = new Agent({
    connections: lanes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  const { tally, start, end } = createTally()

  const send = async () => {
    start()
    const started = performance.now()
    const ms = () => Math.round(performance.now() - started)
    try {
      const response = await request(`http://127.0.0.1:${port}${path}`, {
        method,
        dispatcher,
        signal,
        headers: {
          ...(method === 'POST' && { 'x-api-key': apiKey, 'content-type': 'application/json' }),
          ...headers,
          ...vary?.(),
        },
        body: method === 'GET' ? null : body(),
      })
      await response.body.dump()
      onStatus?.(response.statusCode)
      end({ status: response.statusCode, ms: ms(), silent: false })
    } catch {
      if (signal.aborted) return void tally.unended++
      end({ status: 0, ms: ms(), silent: ms() >= timeoutMs })
      await wait(100, signal)
    }
  }
  await repeat({ lanes, pauseMs, signal }, send)
  await dispatcher.destroy()
  return tally
}
