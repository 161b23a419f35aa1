import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { startCluster } from './faults/kit/cluster.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

t.test('a gateway serves until a load balancer has noticed that it ends', async (t) => {
  const cluster = await startCluster({
    dataDir: createDataDir(t),
    root,
    random: Math.random,
    gatewayEnv: { DRAIN_MS: '10000' },
  })
  t.teardown(() => cluster.close())
  const [gateway] = cluster.gateways
  const [url] = cluster.gatewayUrls
  const readiness = async () => (await request(`${url}/readyz`)).statusCode
  const send = async () => {
    const { statusCode, body } = await request(`${url}/api/log`, {
      method: 'POST',
      headers: { 'x-api-key': cluster.apiKey, 'content-type': 'application/json' },
      body: '{}',
    })
    await body.dump()
    return statusCode
  }
  t.equal(await readiness(), 200)
  const ended = gateway!.terminate()
  await until('it is not ready', async () => (await readiness()) === 503)
  t.equal(await send(), 400, 'it serves as usual')
  t.equal(await ended, 0)
  await t.rejects(send(), { code: 'ECONNREFUSED' })
})
