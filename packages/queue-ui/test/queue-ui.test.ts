import { randomBytes } from 'node:crypto'
import { Queue } from 'bullmq'
import fastify from 'fastify'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { startRedis } from '@intake/engines'
import { createFrameProducer, createJobSink, queuePrefix, registerShard } from '@intake/queue'
import { createQueueUi } from '@intake/queue-ui'
import { claimInstallation, connectRedis, type Redis } from '@intake/redis'
import { findChromium } from '@intake/test-kit/chromium'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'

const redisServer = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => redisServer.stop())
const password = 'the password of the queues'
const authorization = `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}`
/** Much longer than any step takes: by default it is half a minute. */
const browserTimeoutMs = 300_000
const frames = 120
const frameBytes = 400_000

function connect(t: Test, role: 'producer' | 'consumer'): Redis {
  const redis = connectRedis({ url: redisServer.url, role, onError: () => {} })
  t.teardown(() => redis.disconnect())
  return redis
}

async function startUi(t: Test): Promise<{ url: string; redis: Redis }> {
  const redis = connect(t, 'consumer')
  const app = fastify()
  const queues = ['logs', 'feedback', 'feedback-webhook']
  const ui = createQueueUi({ password, redis, queues, onError: (error) => t.error(error) })
  await ui.register(app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    await ui.close()
  })
  return { url, redis }
}

async function read(
  url: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
) {
  return fetch(url, { ...init, headers: { authorization, ...init.headers } })
}

/** Bytes that Redis has sent to all its clients so far. */
async function sentBytes(redis: Redis): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1])
}

interface Listed {
  queues: {
    name: string
    readOnlyMode: boolean
    allowRetries: boolean
    counts: { waiting: number }
    jobs: { id: string; data: unknown }[]
  }[]
}

const setup = connectRedis({ url: redisServer.url, role: 'producer', onError: () => {} })
const sink = createJobSink({ redis: setup, kind: 'logs' })
const producer = createFrameProducer({ sink })
const receivedAtMs = Date.parse('2026-11-23T10:00:00.000Z')
for (let n = 0; n < frames; n++) {
  const frame = { rows: 7, jsonBytes: 9_000, gzip: randomBytes(frameBytes), receivedAtMs }
  await producer.add(frame, performance.now() + 60_000)
}
await sink.close()
setup.disconnect()

t.test('nothing is shown without the password, or to another site', async (t) => {
  const { url } = await startUi(t)
  for (const path of ['/queues', '/queues/api/queues', '/queues/static/favicon-32x32.png']) {
    t.equal((await fetch(url + path)).status, 401, path)
    t.equal((await read(url + path)).status, 200, path)
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }
    t.equal((await read(url + path, { headers: foreign })).status, 403, path)
  }
  const wrong = { authorization: `Basic ${Buffer.from('anyone:wrong').toString('base64')}` }
  for (let n = 0; n < 10; n++) await read(`${url}/queues`, { headers: wrong })
  t.equal((await read(`${url}/queues`)).status, 429)
})

t.test('a list of large frames tells rows and bytes without reading the frames', async (t) => {
  const { url, redis } = await startUi(t)
  for (const query of ['', '&status=waiting', '&status=waiting&jobsPerPage=100000']) {
    const before = await sentBytes(redis)
    const response = await read(`${url}/queues/api/queues?activeQueue=logs${query}`)
    const text = await response.text()
    const { queues } = JSON.parse(text) as Listed
    const [logs] = queues
    t.match(logs, { name: 'logs', readOnlyMode: true, allowRetries: false })
    t.equal(logs!.counts.waiting, frames)
    t.equal(logs!.jobs.length, query.includes('100000') ? 100 : 10)
    t.match(logs!.jobs[0]!.data, {
      rows: 7,
      jsonBytes: 9_000,
      receivedAt: '2026-11-23T10:00:00.000Z',
    })
    const bytes = (await sentBytes(redis)) - before
    t.ok(bytes < frameBytes / 2, `Redis sent ${bytes} bytes`)
    t.ok(text.length < frameBytes / 2)
  }
})

t.test('other shards of the log queue are queues of their own', async (t) => {
  const { url, redis } = await startUi(t)
  await claimInstallation(redis, 'test')
  await registerShard(redis, 2)
  const inShard = createJobSink({ redis, kind: 'logs', shard: 2 })
  const frame = { rows: 1, jsonBytes: 100, gzip: Buffer.from('x'), receivedAtMs }
  await createFrameProducer({ sink: inShard }).add(frame, performance.now() + 60_000)
  await inShard.close()
  let shard: Listed['queues'][number] | undefined
  await until('the shard is shown', async () => {
    const { queues } = (await (await read(`${url}/queues/api/queues`)).json()) as Listed
    shard = queues.find(({ name }) => name === 'shard-2:logs')
    return shard !== undefined
  })
  t.match(shard, { readOnlyMode: true, counts: { waiting: 1 } })
})

t.test('a frame is shown without reading it', async (t) => {
  const { url, redis } = await startUi(t)
  const id = String(await redis.lindex(`${queuePrefix}:logs:wait`, 0))
  const before = await sentBytes(redis)
  for (const path of ['', '/flow', '/logs']) {
    const response = await read(`${url}/queues/api/queues/logs/${id}${path}`)
    t.equal(response.status, 200, path)
    if (path === '') {
      t.match(await response.json(), { job: { id, data: { rows: 7 } }, status: 'waiting' })
    }
  }
  t.ok((await sentBytes(redis)) - before < frameBytes / 2)
  t.equal((await read(`${url}/queues/api/queues/logs/nothing`)).status, 404)
})

t.test('nothing can be changed', async (t) => {
  const { url, redis } = await startUi(t)
  const id = String(await redis.lindex(`${queuePrefix}:logs:wait`, 0))
  const keys = async () => (await redis.keys('*')).toSorted()
  const before = await keys()
  for (const [method, path] of [
    ['PUT', '/queues/pause'],
    ['PUT', '/queues/logs/pause'],
    ['PUT', '/queues/logs/empty'],
    ['PUT', '/queues/logs/obliterate'],
    ['PUT', '/queues/logs/promote'],
    ['PUT', '/queues/logs/retry/failed'],
    ['PUT', '/queues/logs/clean/waiting'],
    ['PUT', `/queues/logs/${id}/clean`],
    ['PUT', `/queues/logs/${id}/retry/failed`],
    ['PATCH', `/queues/logs/${id}/update-data`],
    ['POST', '/queues/logs/add'],
  ] as const) {
    const { status } = await read(`${url}/queues/api${path}`, { method })
    t.ok(status === 405 || status === 404, `${method} ${path}: ${status}`)
  }
  t.same(await keys(), before)
  t.equal(await redis.llen(`${queuePrefix}:logs:wait`), frames)
})

t.test(
  'a browser shows it, loads nothing from elsewhere, and runs no text of a job',
  { skip: findChromium() === undefined ? 'there is no Chromium' : false },
  async (t) => {
    const { url, redis } = await startUi(t)
    const hostile = '<img src=x onerror="document.title=\'it ran\'"><script>alert(1)</script>'
    const queue = new Queue('feedback-webhook', { connection: redis, prefix: queuePrefix })
    t.teardown(() => queue.close())
    const job = await queue.add(hostile, {}, { delay: 60_000_000 })
    await redis.hset(queue.toKey(job.id!), { failedReason: hostile, stacktrace: '["at x"]' })

    const browser = await chromium.launch({
      executablePath: findChromium()!,
      args: ['--no-sandbox'],
      timeout: browserTimeoutMs,
    })
    t.teardown(() => browser.close())
    const page = await browser.newPage({ httpCredentials: { username: 'x', password } })
    page.setDefaultTimeout(browserTimeoutMs)
    const answered: string[] = []
    page.on('response', (response) => answered.push(response.url()))
    page.on('dialog', () => t.fail('a script ran'))
    await page.goto(`${url}/queues/queue/logs?status=waiting`)
    await page.getByText('jsonBytes').first().waitFor()
    await page.goto(`${url}/queues/queue/feedback-webhook?status=delayed`)
    await page.getByText(hostile).first().waitFor()
    t.not(await page.title(), 'it ran')
    t.equal(await page.getByRole('button', { name: /retry|clean|promote|pause/i }).count(), 0)
    t.same(
      answered.filter((address) => !address.startsWith(url)),
      [],
    )
  },
)
