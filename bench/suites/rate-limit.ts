import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { number } from '../report/format.ts'
import type { SuiteResult } from './suite.ts'

const perSecond = 200
/** Half of what is sent. */
const limitPerSecond = 100
const windows = 3
/** More than what the gateways count before they tell each other. */
const toleranceShare = 0.05
const responseMs = 10_000

interface Sent {
  /** In which window it was sent, from 0. */
  window: number
  status: number
}

/** Whether two gateways let through what one limit allows, in each window. */
export async function rateLimit(bench: Bench): Promise<SuiteResult> {
  const seconds = bench.options.quick ? 5 : 60
  const max = limitPerSecond * seconds
  const sent = await measure(bench, max, seconds)
  // An event without fields is refused with 400, after it has counted towards the limit.
  const passed = sent.filter(({ status }) => status === 400)
  const unexpected = sent.filter(({ status }) => status !== 400 && status !== 429)
  if (unexpected.length > 0) throw new Error(`a response with status ${unexpected[0]!.status}`)
  const counts = Array.from({ length: windows }, (_, window) => countIn(passed, window))
  bench.say(`rate-limit: limit ${max} in ${seconds} s: ${counts.join(', ')} passed`)
  return {
    name: 'rate-limit',
    title: 'One limit, two gateways',
    method: `Two gateways with one limit of ${max} requests of a key in ${seconds} s. They get ${perSecond} requests a second
in turn, for ${windows} windows.`,
    tables: [
      {
        title: 'Requests in each window',
        head: ['window', 'sent', 'limit', 'passed'],
        rows: counts.map((count, window) => [
          number(window + 1),
          number(countIn(sent, window)),
          number(max),
          number(count),
        ]),
      },
    ],
    checks: counts.map((count, window) => ({
      item: '10',
      what: `requests that pass in window ${window + 1}`,
      measured: number(count),
      limit: `${number(max)} ± ${100 * toleranceShare} %`,
      met: Math.abs(count - max) <= toleranceShare * max,
    })),
    plots: [],
    raw: counts,
  }
}

async function measure(bench: Bench, max: number, seconds: number): Promise<Sent[]> {
  const env = { RATE_LIMIT_MAX: String(max), RATE_LIMIT_WINDOW_MS: String(seconds * 1_000) }
  const variant = await bench.start('intake', { gateways: 2, env })
  try {
    return await sendSteadily(bench, variant.ports, seconds)
  } finally {
    await variant.stop()
  }
}

const countIn = (sent: readonly Sent[], window: number) =>
  sent.filter((one) => one.window === window).length

/** Sends to the ports in turn, whatever the responses, until all windows are over. */
async function sendSteadily(
  { owner, services }: Bench,
  ports: readonly number[],
  seconds: number,
): Promise<Sent[]> {
  const headers = { 'x-api-key': services.apiKey, 'content-type': 'application/json' }
  const send = async (port: number): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/log`, {
      method: 'POST',
      headers,
      body: '{}',
      signal: AbortSignal.timeout(responseMs),
    })
    await response.arrayBuffer()
    return response.status
  }

  const sending: Promise<Sent>[] = []
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / 1_000
  while (elapsed() < windows * seconds) {
    const window = Math.floor(elapsed() / seconds)
    while (sending.length < elapsed() * perSecond) {
      const port = ports[sending.length % ports.length]!
      const response = send(port).then((status) => ({ window, status }))
      // An error is thrown at the end, by all of them together; until then it must not end the process.
      response.catch(() => {})
      sending.push(response)
    }
    await pause(5, undefined, { signal: owner.signal })
  }
  return Promise.all(sending)
}
