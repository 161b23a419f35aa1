import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ClickHouseError, type InsertGzip } from '@intake/clickhouse'
import type { Frame } from '@intake/contract'
import { createLogger, createMetrics } from '@intake/runtime'
import { createWorkerMetrics } from '../src/metrics.ts'
import { storeFrames } from '../src/store-frames.ts'

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const row = (n: number, extra = {}) => JSON.stringify({ id: idOf(n), n, ...extra })
const frame = (...rows: string[]): Frame => ({
  rows: rows.length,
  jsonBytes: rows.join('\n').length + 1,
  gzip: gzipSync(rows.map((one) => `${one}\n`).join('')),
})

/** A store that refuses every insert with a row that says `poison`, and fails as it is told to. */
function build(failures: ClickHouseError[] = []) {
  const stored: string[] = []
  const deadLetters: { id: string; table: string; row: string; error_code: number }[] = []
  const lines: string[] = []
  const stop = new AbortController()
  let calls = 0
  const registry = createMetrics()
  const options = {
    store: {
      async insertGzip({ table, members, rows }: InsertGzip) {
        calls++
        const failure = failures.shift()
        if (failure) throw failure
        const sent = gunzipSync(Buffer.concat(members)).toString().trimEnd().split('\n')
        t.equal(sent.length, rows, 'announces as many rows as it sends')
        if (table === 'dead_letters') {
          deadLetters.push(...sent.map((one) => JSON.parse(one) as (typeof deadLetters)[0]))
        } else if (sent.some((one) => one.includes('poison'))) {
          throw new ClickHouseError('refused', { kind: 'data', code: 117, serverText: 'because' })
        } else {
          stored.push(...sent)
        }
      },
    },
    kind: 'logs' as const,
    metrics: createWorkerMetrics(registry),
    log: createLogger({
      name: 'worker',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    }),
    signal: stop.signal,
  }
  return { options, stored, deadLetters, lines, stop, registry, calls: () => calls }
}

t.test('an insert that fails is repeated until it is confirmed', async (t) => {
  const away = new ClickHouseError('away', { kind: 'retry' })
  const { options, stored, lines, calls } = build([away])
  await storeFrames([frame(row(1)), frame(row(2))], options)
  t.same(stored, [row(1), row(2)])
  t.equal(calls(), 2)
  t.match(lines.join(''), 'docs/operations/insert-retry.md')
})

t.test(
  'one bad row among many frames becomes a dead letter; every other row is stored',
  async (t) => {
    const { options, stored, deadLetters, registry } = build()
    const frames = Array.from({ length: 20 }, (_, i) =>
      frame(...[0, 1, 2, 3].map((j) => row(i * 4 + j, i === 7 && j === 2 ? { poison: true } : {}))),
    )
    await storeFrames(frames, options)
    t.equal(stored.length, 79)
    t.equal(new Set(stored).size, 79)
    t.match(deadLetters, [{ id: idOf(30), table: 'logs', row: /poison/, error_code: 117 }])
    t.match(await registry.metrics(), 'intake_dead_letters_total{kind="logs"} 1')
  },
)

t.test('a merge is not taken apart because of one refusal', async (t) => {
  const refusal = new ClickHouseError('refused', { kind: 'data', code: 6 })
  const { options, stored, deadLetters, calls } = build([refusal])
  await storeFrames([frame(row(1)), frame(row(2))], options)
  t.equal(calls(), 2)
  t.equal(stored.length, 2)
  t.equal(deadLetters.length, 0)
})

t.test('a merge that ClickHouse cannot take as a whole is stored in parts', async (t) => {
  const tooLarge = () => new ClickHouseError('memory', { kind: 'split', code: 241 })
  const { options, stored, deadLetters } = build([tooLarge(), tooLarge(), tooLarge(), tooLarge()])
  await storeFrames([frame(row(1), row(2)), frame(row(3))], options)
  t.same(stored, [row(1), row(2), row(3)])
  t.equal(deadLetters.length, 0)
})

/** As the worker does it, without the pauses. */
async function storeHurriedly(t: Test, ...args: Parameters<typeof storeFrames>): Promise<void> {
  const hurried = await t.mockImport<{ storeFrames: typeof storeFrames }>(
    '../src/store-frames.ts',
    {
      // The same classes as here.
      '@intake/clickhouse': await import('@intake/clickhouse'),
      'node:timers/promises': { setTimeout: () => Promise.resolve() },
    },
  )
  return hurried.storeFrames(...args)
}

const unknown = () => new ClickHouseError('unknown', { kind: 'split', code: 9_999 })
const times = (count: number, failure: () => ClickHouseError) =>
  Array.from({ length: count }, failure)

t.test('a row that alone meets an unknown code becomes a dead letter, at last', async (t) => {
  const memory = () => new ClickHouseError('memory', { kind: 'split', code: 241 })
  // Other failures do not count, and between two unknown codes they make it count anew.
  const failures = [...times(20, memory), ...times(7, unknown), memory(), ...times(8, unknown)]
  const { options, stored, deadLetters, calls } = build(failures)
  await storeHurriedly(t, [frame(row(1))], options)
  t.same(stored, [])
  t.match(deadLetters, [{ id: idOf(1), error_code: 9_999 }])
  t.equal(calls(), 20 + 7 + 1 + 8 + 1)
})

t.test('the dead letter of a row that was refused is repeated until it is confirmed', async (t) => {
  const away = () => new ClickHouseError('away', { kind: 'retry' })
  const refused = () => new ClickHouseError('refused', { kind: 'data', code: 117 })
  const failures = [...times(2, refused), ...times(12, unknown), ...times(12, away)]
  const { options, deadLetters, calls } = build(failures)
  await storeHurriedly(t, [frame(row(1))], options)
  t.match(deadLetters, [{ id: idOf(1), error_code: 117 }])
  t.equal(calls(), 2 + 12 + 12 + 1)
})

t.test('while everything meets an unknown code, no row becomes a dead letter', async (t) => {
  const { options, stored, deadLetters, lines } = build(times(100, unknown))
  await storeHurriedly(t, [frame(row(1), row(2)), frame(row(3))], options)
  t.same(stored.toSorted(), [row(1), row(2), row(3)])
  t.same(deadLetters, [])
  t.match(lines.join(''), 'a dead letter failed; its row is tried again')
})

t.test('a frame that cannot be unpacked is kept whole as a dead letter', async (t) => {
  const refused = () => new ClickHouseError('gzip', { kind: 'data', code: 354 })
  const { options, deadLetters } = build([refused(), refused()])
  await storeFrames([{ rows: 3, jsonBytes: 7, gzip: Buffer.from('no gzip') }], options)
  t.match(deadLetters, [{ row: Buffer.from('no gzip').toString('base64') }])
})

t.test('what needs a person is held and repeated, never taken apart', async (t) => {
  const hold = () => new ClickHouseError('no such table', { kind: 'hold', code: 60 })
  const { options, stored, deadLetters, lines } = build([hold(), hold()])
  await storeFrames([frame(row(1))], options)
  t.equal(stored.length, 1)
  t.equal(deadLetters.length, 0)
  t.match(lines.join(''), 'docs/operations/insert-hold.md')
})

t.test('gives up only when it is told to', async (t) => {
  const away = new ClickHouseError('away', { kind: 'retry' })
  const { options, stop, stored } = build(Array.from({ length: 100 }, () => away))
  const done = storeFrames([frame(row(1))], options)
  stop.abort()
  await t.rejects(done, { name: 'AbortError' })
  t.equal(stored.length, 0)
})
