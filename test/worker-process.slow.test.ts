import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { kill } from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compress } from '@intake/queue/frame'
import t, { type Test } from 'tap'
import { createClickHouse } from '@intake/clickhouse'
import { migrate } from '@intake/schema'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { connectRedis } from '@intake/redis'
import { startClickHouse, startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'

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
const clickhouse = createClickHouse({ url: clickhouseServer.url })
t.teardown(() => clickhouse.close())
await migrate({ clickhouse })

t.test('a worker with a small heap drains a backlog of large frames', async (t) => {
  const redis = connectRedis({ url: redisServer.url, role: 'producer', onError: () => {} })
  t.teardown(() => redis.disconnect())
  const sink = createJobSink({ redis, kind: 'logs' })
  const producer = createFrameProducer({ sink })
  for (let n = 0; n < frames; n++) {
    const json = Buffer.from(`${JSON.stringify(row(n))}\n`)
    const compressed = compress(json)
    const frame = { rows: 1, jsonBytes: json.length, ...compressed, receivedAtMs: Date.now() }
    await producer.add(frame, performance.now() + 30_000)
  }
  await sink.close()

  const worker = startWorkerProcess(t, [`--max-old-space-size=${heapMiB}`])
  await until('all rows are stored', async () => {
    const [seen] = await clickhouse.query<{ n: number }>('SELECT count() AS n FROM intake.logs')
    return seen?.n === frames
  })
  if (process.platform === 'linux') {
    const peakMiB = peakMiBOf(worker.process.pid!)
    t.ok(peakMiB <= residentMiBMax, `${peakMiB} MiB resident at most`)
  }
  worker.process.kill('SIGTERM')
  t.same(await worker.exited, [0, null], 'it was never restarted')
})

t.test('a worker exits on SIGTERM while Redis is frozen', async (t) => {
  const worker = startWorkerProcess(t)
  await worker.isUp
  kill(redisServer.pid, 'SIGSTOP')
  try {
    worker.process.kill('SIGTERM')
    t.same(await worker.exited, [0, null])
  } finally {
    kill(redisServer.pid, 'SIGCONT')
  }
})

t.test('a worker does not start with a quorum but no cluster', async (t) => {
  const worker = startWorkerProcess(t, [], { CLICKHOUSE_INSERT_QUORUM: '2' })
  t.same(await worker.exited, [1, null])
  t.match(worker.lines.join(''), 'CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER')
})

function peakMiBOf(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

function startWorkerProcess(t: Test, nodeOptions: string[] = [], env: Record<string, string> = {}) {
  const lines: string[] = []
  const worker = spawn(process.execPath, [...nodeOptions, 'worker/dist/main.js'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      ...process.env,
      REDIS_URL: redisServer.url,
      CLICKHOUSE_URL: clickhouseServer.workerUrl,
      WORKER_ADMIN_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(worker, 'exit')
  t.teardown(() => worker.kill('SIGKILL'))
  const isUp = new Promise<void>((resolve) => {
    createInterface(worker.stdout).on('line', (line) => {
      t.comment(line)
      lines.push(line)
      if (line.includes('worker is up')) resolve()
    })
  })
  return { process: worker, exited, isUp, lines }
}

function row(n: number): object {
  const id = `019aaaaa-0000-7000-8000-${String(n).padStart(12, '0')}`
  const time = new Date(0x019aaaaa0000).toISOString()
  return {
    id,
    time,
    received_at: time,
    request_id: randomUUID(),
    bundle_identifier: 'com.example.app',
    device_uuid: randomUUID(),
    unique_user_id: 'user-1',
    api_key_id: 'key-1',
    device: {},
    device_extra: {},
    event: 'large',
    params: { text: randomBytes(textBytes).toString('base64') },
  }
}
