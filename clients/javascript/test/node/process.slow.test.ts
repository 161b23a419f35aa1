import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startClientProcess } from '../../adapters/start-process.ts'
import { startHttpIntake } from './http-intake.ts'

const nobody = 'http://127.0.0.1:9'
const options = (url: string, storage: string) => ({
  url,
  storage,
  apiKey: 'ik_test',
  bundleIdentifier: 'com.example.app',
})

t.test('a process that exits at once has written its events', async (t) => {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  const first = startClientProcess('node-process.ts')
  await first.call('init', options(nobody, storage))
  void first.call('logs', 0, 50, 'tap').catch(() => undefined)
  void first.call('exit', 1).catch(() => undefined)
  await first.exited
  const second = startClientProcess('node-process.ts')
  t.teardown(() => second.kill())
  await second.call('init', options(server.url, storage))
  t.same(await second.call('flush', 60_000), { left: 0 })
  t.equal(server.rows.size, 50)
})

t.test('two processes with one directory send every event once', async (t) => {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  const processes = [startClientProcess('node-process.ts'), startClientProcess('node-process.ts')]
  t.teardown(() => Promise.all(processes.map((one) => one.kill())))
  for (const one of processes) await one.call('init', options(server.url, storage))
  await Promise.all(processes.map((one) => one.call('logs', 0, 700, 'tap')))
  for (const one of processes) t.same(await one.call('flush', 60_000), { left: 0 })
  t.equal(server.rows.size, 1400)
  t.equal(server.repeats(), 0)
})

t.test('a host that is never reached costs 4 MB of storage and 10 MB of memory', async (t) => {
  const storage = createDataDir(t)
  // Without this option, V8's young generation would grow by 30 MB and hide the memory of the
  // client.
  const client = startClientProcess('node-process.ts', ['--max-semi-space-size=1'])
  t.teardown(() => client.kill())
  const memory = () => client.call<NodeJS.MemoryUsage>('memory')
  await client.call('init', options(nobody, storage))
  await client.call('logs', 0, 100, 'warm')
  // Makes Node load `fetch` before the memory is measured.
  await client.call('flush', 500)
  const before = await memory()
  const grown = { rss: 0, heapUsed: 0 }
  for (let from = 0; from < 100_000; from += 5000) {
    await client.call('logs', from, 5000, 'tap'.padEnd(200, '-'))
    const { rss, heapUsed } = await memory()
    grown.rss = Math.max(grown.rss, rss - before.rss)
    grown.heapUsed = Math.max(grown.heapUsed, heapUsed - before.heapUsed)
  }
  const bytes = readdirSync(storage).reduce(
    (sum, name) => sum + statSync(join(storage, name)).size,
    0,
  )
  const stats = await client.call<{ pending: { logs: number }; dropped: Record<string, number> }>(
    'stats',
  )
  t.ok(bytes <= 4_000_000, `${bytes} bytes stored`)
  t.ok(grown.rss <= 10_000_000, `${grown.rss} bytes of memory, ${grown.heapUsed} of heap`)
  t.ok(stats.pending.logs <= 5000, `${stats.pending.logs} events wait`)
  t.equal(stats.pending.logs + stats.dropped['queue_full']!, 100_100)
  t.comment(`${bytes} bytes stored, ${grown.rss} of memory more, ${grown.heapUsed} of heap`)
})
