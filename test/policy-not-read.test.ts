import { join } from 'node:path'
import t from 'tap'
import { createApiKeyStore } from '@intake/access'
import { startRedis } from '@intake/local'
import { claimInstallation } from '@intake/redis'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openRedis } from '@intake/test-kit/open-redis'
import { postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'

const retentionKey = '{intake}:retention'

const dataDir = createDataDir(t)
const server = await startRedis({ dataDir: join(dataDir, 'redis'), port: 0 })
t.teardown(() => server.stop())
const redis = openRedis(t, server)

t.test('503 until a gateway has read the policy, although it knows the API key', async (t) => {
  await claimInstallation(redis, 'an-installation')
  const { secret } = await createApiKeyStore({ redis }).create({ name: 'test' })
  // Makes only the policy unreadable. Everything else in Redis can be read.
  await redis.set(retentionKey, 'not a hash')
  const [port] = await freePorts(1)
  await startApp(t, 'gateway', {
    dataDir,
    env: {
      REDIS_URL: server.url,
      REDIS_DURABILITY: 'relaxed',
      S3_ENDPOINT: 'http://intake:intake-secret@127.0.0.1:1',
      PORT: String(port),
    },
  })
  const gateway = { url: `http://127.0.0.1:${port}`, apiKey: secret }
  const send = async () => {
    const response = await postLog(gateway, { event: 'opened' })
    const { detail } = (await response.json()) as { detail?: string }
    return { status: response.status, detail }
  }

  // Waits for two attempts to read the policy. The gateway reads the API keys before the policy, so
  // it knows the keys after these attempts.
  await until('it has tried to read the policy twice', async () => {
    const [, count = '0'] = /WRONGTYPE:count=(\d+)/.exec(await redis.info('errorstats')) ?? []
    return Number(count) >= 2
  })
  t.match(await send(), { status: 503, detail: 'not been read yet' })
  t.equal(await redis.llen('{intake}:logs:wait'), 0)

  await redis.del(retentionKey)
  await until('it accepts', async () => (await send()).status === 201)
})
