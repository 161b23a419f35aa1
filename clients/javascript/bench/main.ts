// Measures what the client costs: `npx tsx --conditions=intake:source
// clients/javascript/bench/main.ts`. To measure memory too, replace `npx tsx` with
// `node --expose-gc --import=tsx`.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleEntry } from '../adapters/bundle.ts'
import { createIntake } from '../src/node/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'intake-bench-'))
const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined)
const params = { screen: 'cart', items: 3, price: 19.99, from: 'search', isNew: false }
const blocked = {
  url: 'http://127.0.0.1:9',
  apiKey: 'ik_bench',
  bundleIdentifier: 'com.example.bench',
  flushIntervalMs: 100,
}

async function size(): Promise<void> {
  for (const entry of ['web', 'react-native'] as const) {
    const bundle = await bundleEntry(entry, { minify: true })
    console.log(
      `${entry}: ${bundle.length} bytes minified, ${gzipSync(bundle, { level: 9 }).length} compressed`,
    )
  }
}

/**
 * Measures the time of single calls. Calls are timed in groups, because the clock is too coarse for
 * a single call.
 */
async function cost(): Promise<void> {
  const client = createIntake({ ...blocked, storage: join(dir, 'cost') })
  const groups: number[] = []
  for (let group = 0; group < 400; group++) {
    const clock = process.hrtime.bigint()
    for (let n = 0; n < 25; n++) client.log('tap', params)
    groups.push(Number(process.hrtime.bigint() - clock) / 25 / 1000)
    await client.stored()
  }
  groups.sort((a, b) => a - b)
  const at = (part: number) => groups[Math.floor(groups.length * part)]!.toFixed(1)
  console.log(`log(): median ${at(0.5)} µs, 95 % below ${at(0.95)} µs, 99 % below ${at(0.99)} µs`)
  await client.shutdown({ timeoutMs: 0 })
}

/** Logs 100,000 events for a host that never responds. */
async function blockedHost(): Promise<void> {
  const storage = join(dir, 'blocked')
  const client = createIntake({ ...blocked, storage })
  client.log('first')
  await client.stored()
  collect()
  const before = process.memoryUsage()
  let peak = 0
  for (let n = 0; n < 100_000; n++) {
    client.log('tap', { ...params, n })
    if (n % 200 !== 0) continue
    await client.stored()
    if (n % 5000 === 0) collect()
    if (n % 5000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  await client.stored()
  collect()
  const after = process.memoryUsage()
  const bytes = readdirSync(storage).reduce(
    (sum, name) => sum + statSync(join(storage, name)).size,
    0,
  )
  const megabytes = (value: number) => (value / 1e6).toFixed(1)
  const { pending, dropped } = client.stats()
  console.log(
    `blocked host, 100,000 events: ${megabytes(bytes)} MB on disk, ${pending.logs} kept, ` +
      `${dropped['queue_full']} given up; heap +${megabytes(after.heapUsed - before.heapUsed)} MB ` +
      `(peak +${megabytes(peak - before.heapUsed)} MB), RSS +${megabytes(after.rss - before.rss)} MB`,
  )
  await client.shutdown({ timeoutMs: 0 })
}

await size()
await cost()
await blockedHost()
rmSync(dir, { recursive: true, force: true })
