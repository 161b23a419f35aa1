import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import t, { type Test } from 'tap'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack, type RunningStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'

const device_uuid = randomUUID()

/**
 * Sends `count` distinct events over 64 connections; resolves to the ids that were acknowledged.
 */
async function load(stack: RunningStack, event: string, count: number): Promise<string[]> {
  const pool = new Pool(stack.endpoints.gateway, { connections: 64 })
  const acknowledged: string[] = []
  let next = 0
  const client = async () => {
    while (next < count) {
      const index = next++
      const { statusCode, body } = await pool.request({
        path: '/api/log',
        method: 'POST',
        headers: { 'x-api-key': stack.endpoints.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({
          bundle_identifier: 'com.example.load',
          device: { os: 'Android', device_model: 'Pixel 8', battery_level: index % 100 },
          device_uuid,
          unique_user_id: `user-${index % 997}`,
          log: { event, params: { index, screen: `screen-${index % 13}` } },
        }),
      })
      const response = (await body.json()) as { id: string }
      if (statusCode === 201) acknowledged.push(response.id)
    }
  }
  await Promise.all(Array.from({ length: 64 }, client))
  await pool.close()
  return acknowledged
}

async function numbers(stack: RunningStack, sql: string): Promise<Record<string, number>> {
  const [first] = await stack.clickhouse.query<Record<string, number>>(sql)
  return first ?? {}
}

async function insertsOf(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/^intake_inserts_total\{kind="logs"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

/** Starts another worker, as an operator would. */
const startWorker = (t: Test, { endpoints }: RunningStack) =>
  startApp(t, 'worker', {
    dataDir: createDataDir(t),
    env: { REDIS_URL: endpoints.redis, CLICKHOUSE_URL: endpoints.clickhouse },
  })

/**
 * The maximum number of inserts from the first request until all rows are visible: four a second,
 * but at least forty.
 */
const insertsIn = (elapsedMs: number) => Math.max(40, Math.ceil((4 * elapsedMs) / 1_000))

t.test('2,000 events over 64 connections are 2,000 rows in a few inserts', async (t) => {
  const stack = await startStack(t, { dataDir: createDataDir(t) })
  const began = performance.now()
  const acknowledged = await load(stack, 'burst', 2_000)
  t.equal(acknowledged.length, 2_000)
  t.equal(new Set(acknowledged).size, 2_000)

  const count = `SELECT count() AS rows, uniqExact(id) AS ids, sum(params.index::UInt64) AS total
                 FROM intake.logs WHERE event = 'burst'`
  await until('all are visible', async () => (await numbers(stack, count))['ids'] === 2_000)
  const insertsMax = insertsIn(performance.now() - began)
  t.match(await numbers(stack, count), { rows: 2_000, ids: 2_000, total: (2_000 * 1_999) / 2 })
  const raw = await numbers(
    stack,
    `SELECT count() AS rows FROM intake.logs_raw WHERE event = 'burst'`,
  )
  t.equal(raw['rows'], 2_000)

  const inserts = await insertsOf(stack.endpoints.workerAdmin!)
  const parts = await numbers(
    stack,
    `SELECT count() AS parts FROM system.parts
     WHERE database = 'intake' AND table = 'logs_raw' AND active`,
  )
  t.comment(`2,000 events in ${inserts} inserts, ${parts['parts']} active parts`)
  t.ok(inserts <= insertsMax, `${inserts} inserts of ${insertsMax}`)
  t.ok((parts['parts'] ?? 0) <= insertsMax)

  t.test('two more workers do not cause more inserts', async (t) => {
    const more = [await startWorker(t, stack), await startWorker(t, stack)]
    const urls = [stack.endpoints.workerAdmin!, ...more.map((one) => one.adminUrl())]
    const sharedBegan = performance.now()
    await load(stack, 'shared', 2_000)
    await until('all are visible', async () => {
      const { ids } = await numbers(
        stack,
        `SELECT uniqExact(id) AS ids FROM intake.logs WHERE event = 'shared'`,
      )
      return ids === 2_000
    })
    const sharedMax = insertsIn(performance.now() - sharedBegan)
    const all = await Promise.all(urls.map(insertsOf))
    const together = all.reduce((sum, own) => sum + own) - inserts
    t.ok(together <= sharedMax, `${together} inserts of ${sharedMax}`)
    await Promise.all(more.map((one) => one.terminate()))
  })
})
