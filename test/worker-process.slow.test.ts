import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { kill } from 'node:process'
import t, { type Test } from 'tap'
import { migrate } from '@intake/schema'
import { startClickHouse, startRedis } from '@intake/local'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { enqueueLogs } from '@intake/test-kit/enqueue'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import { logRow } from '../packages/schema/test/fixture.ts'

const heapMiB = 128
const frames = 200
/** The limit that docs/deploy/README.md states. */
const residentMiBMax = 450
/**
 * The number of random bytes in the text of each row. A frame of one such row is the largest frame
 * that a gateway makes.
 */
const textBytes = 700_000

const redisServer = await startRedis({ dataDir: createDataDir(t), port: 0, maxmemory: '1gb' })
t.teardown(() => redisServer.stop())
const clickhouseServer = await startClickHouse({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => clickhouseServer.stop())
const clickhouse = openClickHouse(t, { url: clickhouseServer.url })
await migrate({ clickhouse })

t.test('a worker with a small heap drains a backlog of large frames', async (t) => {
  const redis = openRedis(t, redisServer, 'producer')
  for (let n = 0; n < frames; n++) {
    const params = { text: randomBytes(textBytes).toString('base64') }
    await enqueueLogs(redis, [[JSON.stringify(logRow({ params }))]])
  }

  const worker = await startWorker(t, [`--max-old-space-size=${heapMiB}`])
  await until('all rows are stored', async () => {
    const [seen] = await clickhouse.query<{ n: number }>('SELECT count() AS n FROM intake.logs')
    return seen?.n === frames
  })
  if (process.platform === 'linux') {
    const peakMiB = peakMiBOf(worker.pid())
    t.ok(peakMiB <= residentMiBMax, `${peakMiB} MiB resident at most`)
  }
  t.equal(await worker.terminate(), 0, 'it was never restarted')
})

t.test('a worker exits on SIGTERM while Redis is frozen', async (t) => {
  const worker = await startWorker(t)
  kill(redisServer.pid, 'SIGSTOP')
  try {
    t.equal(await worker.terminate(), 0)
  } finally {
    kill(redisServer.pid, 'SIGCONT')
  }
})

t.test('a worker does not start with a quorum but no cluster', async (t) => {
  await t.rejects(startWorker(t, [], { CLICKHOUSE_INSERT_QUORUM: '2' }), {
    message: /exited with 1 [^]*CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER/,
  })
})

function peakMiBOf(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

const startWorker = (t: Test, nodeArgs: string[] = [], env: Record<string, string> = {}) =>
  startApp(t, 'worker', {
    dataDir: createDataDir(t),
    nodeArgs,
    env: { REDIS_URL: redisServer.url, CLICKHOUSE_URL: clickhouseServer.workerUrl, ...env },
  })
