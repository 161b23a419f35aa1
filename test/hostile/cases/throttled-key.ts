import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { request as send } from 'undici'
import { mebibyte } from '../attack/bodies.ts'
import { createTally, exchange } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import { form, head, json, request } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { hostileCase, type Attacker } from '../hostile-case.ts'

/**
 * How many requests a key may send in a window of the rate limit. The innocent sender sends 20 a
 * second, so it never reaches this limit, even during a long attack.
 */
const requestsMax = 1_400
/**
 * The attack begins only if the key remains throttled for at least this long. Otherwise the limit
 * could be reset during the attack.
 */
const throttledMsMin = 20_000

type Target = Omit<Attacker, 'signal'>

/** Sends requests until one is throttled. */
async function useUpLimit(target: Target): Promise<void> {
  const limited = new AbortController()
  setMaxListeners(0, limited.signal)
  await flood(
    { ...target, signal: limited.signal },
    {
      lanes: 16,
      path: '/api/log',
      body: () => '{}',
      onStatus: (status) => void (status === 429 && limited.abort()),
    },
  )
}

/** Resolves to the minimum time for which the key remains throttled, in milliseconds. */
async function throttledMs({ port, apiKey }: Target): Promise<number> {
  const headers = { ...json, 'x-api-key': apiKey }
  const url = `http://127.0.0.1:${port}/api/log`
  const response = await send(url, { method: 'POST', headers, body: '{}' })
  await response.body.dump()
  // The header states whole seconds, rounded up, so the true time can be almost one second shorter.
  return (Number(response.headers['ratelimit-reset']) - 1) * 1_000
}

export const throttledKey = [
  hostileCase({
    id: 'n1',
    title: 'a key over its rate limit: batches of 4 MiB and forms of 43 MB, sent and only declared',
    gatewayEnv: { RATE_LIMIT_MAX: String(requestsMax) },
    async prepare(target) {
      await useUpLimit(target)
      for (
        let ms = await throttledMs(target);
        ms < throttledMsMin;
        ms = await throttledMs(target)
      ) {
        await pause(ms + 1_000)
        await useUpLimit(target)
      }
    },
    async attack(attacker) {
      const { signal, apiKey } = attacker
      const headers = { ...json, 'x-api-key': apiKey }
      const { tally, start, end } = createTally()
      const throttledUntil = performance.now() + (await throttledMs(attacker))
      const batch = request('POST /api/log/batch', headers, Buffer.alloc(4 * mebibyte, ' '))
      const formHeaders = { ...form, 'x-api-key': apiKey }
      const whole = [batch, request('POST /api/feedback', formHeaders, Buffer.alloc(40 * mebibyte))]
      const declared = [
        head('POST /api/log/batch', { ...headers, 'content-length': 4 * mebibyte }),
        head('POST /api/feedback', { ...formHeaders, 'content-length': 43_000_000 }),
        head('POST /api/log', { ...headers, 'content-length': 100e6 }),
      ]
      await repeat({ lanes: 24, pauseMs: 250, signal }, async (lane) => {
        const bytes = lane < 4 ? whole[lane % 2] : declared[lane % 3]
        start()
        const result = await exchange(attacker, bytes ?? '')
        if (performance.now() < throttledUntil) end(result)
      })
      return tally
    },
    judge({ throttled, accepted, refused, unavailable, silent, lost, broken }, expect) {
      expect(throttled > 0, 'it is throttled')
      const others = { accepted, refused, unavailable, silent, lost, broken }
      const count = Object.values(others).reduce((sum, one) => sum + one, 0)
      expect(count === 0, `every response is 429, except ${JSON.stringify(others)}`)
    },
  }),
]
