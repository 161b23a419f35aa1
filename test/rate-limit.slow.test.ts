import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import t from 'tap'
import { changedLimits } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { startCluster } from './faults/kit/cluster.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const max = 1_000
/**
 * When a gateway has counted this many requests, a fiftieth of the limit, it sends its count to the
 * other gateways at once.
 */
const atOnce = max / 50
/**
 * Makes the rate window longer than the test takes on any machine. So the whole test is in one
 * window. (gateway/test/admission/fleet-counters.test.ts tests several windows.)
 */
const oneWindow = changedLimits({ rateWindowMs: 3_600_000 })

t.test('two gateways let one limit through', async (t) => {
  const cluster = await startCluster({
    dataDir: createDataDir(t),
    root,
    random: Math.random,
    gateways: 2,
    gatewayArgs: oneWindow.args,
    gatewayEnv: { RATE_LIMIT_MAX: String(max), ...oneWindow.env },
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
  /** The number of requests that the gateways have added to the common count. */
  async function shared(): Promise<number> {
    const [key] = await cluster.keys.keys('{intake}:rate:*')
    return key === undefined ? 0 : Number(await cluster.keys.get(key))
  }

  const sent = cluster.gatewayUrls.map((): number[] => [])
  while (sent.some((statuses) => !statuses.includes(429))) {
    await Promise.all(
      cluster.gatewayUrls.map(async (url, gateway) => {
        const round = await Promise.all(Array.from({ length: atOnce }, () => send(url)))
        sent[gateway]!.push(...round)
      }),
    )
    await until('it is shared', async () => (await shared()) >= sent.flat().length)
  }
  const responses = sent.flat()
  // Requests within the limit get 400: their event is empty, which is checked after the limit.
  const passed = responses.filter((status) => status === 400)
  const limited = responses.filter((status) => status === 429)
  t.equal(limited.length + passed.length, responses.length, 'nothing else is wrong')
  t.comment(`limit ${max}: ${passed.length} pass`)
  // Each gateway may exceed the limit by less than two rounds of `atOnce` requests, because it does
  // not yet know what the other gateway has counted.
  t.ok(passed.length <= max + 4 * atOnce, `${passed.length} pass`)
})
