import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startCluster } from './faults/kit/cluster.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
/** Of a window: `RATE_LIMIT_SECONDS=60 npm test -- test/rate-limit.test.ts` measures whole minutes. */
const seconds = Number(process.env['RATE_LIMIT_SECONDS'] ?? 5)
const windows = 3
const perSecond = 200
const max = 100 * seconds

t.test('two gateways let one limit through', async (t) => {
  const cluster = await startCluster({
    dataDir: createDataDir(t),
    root,
    random: Math.random,
    gateways: 2,
    gatewayEnv: {
      RATE_LIMIT_MAX: String(max),
      RATE_LIMIT_WINDOW_MS: String(seconds * 1_000),
    },
  })
  t.teardown(() => cluster.close())

  async function send(url: string): Promise<number> {
    const { statusCode, body } = await request(`${url}/api/log`, {
      method: 'POST',
      headers: { 'x-api-key': cluster.apiKey, 'content-type': 'application/json' },
      body: '{}',
    })
    await body.dump()
    return statusCode
  }

  const sent: Promise<{ window: number; gateway: number; status: number }>[] = []
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / 1_000
  while (elapsed() < windows * seconds) {
    const window = Math.floor(elapsed() / seconds)
    for (; sent.length < elapsed() * perSecond;) {
      const gateway = sent.length % 2
      const url = cluster.gatewayUrls[gateway] ?? ''
      sent.push(send(url).then((status) => ({ window, gateway, status })))
    }
    await pause(5)
  }
  const responses = await Promise.all(sent)
  const limited = responses.filter(({ status }) => status === 429)
  // An empty event is refused after the limit was counted.
  const passed = responses.filter(({ status }) => status === 400)
  t.equal(limited.length + passed.length, responses.length, 'nothing else is wrong')
  for (const gateway of [0, 1]) {
    t.ok(
      limited.some((one) => one.gateway === gateway),
      `gateway ${gateway} limits`,
    )
  }
  const inWindow = (window: number) => passed.filter((one) => one.window === window).length
  const counts = Array.from({ length: windows }, (_, window) => inWindow(window))
  t.comment(
    `limit ${max} in ${seconds} s, ${perSecond} requests a second: ${counts.join(', ')} pass`,
  )
  // A window begins with the first request after the last one, so a few windows of this test see part of another.
  t.ok(passed.length <= max * windows * 1.05, `${passed.length} pass`)
})
