import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ClickHouseError, type InsertRows } from '@intake/clickhouse'
import { createMetrics } from '@intake/runtime/process'
import { hurriedClock } from '@intake/test-kit/hurried-clock'
import { insertText } from '@intake/test-kit/insert-text'
import { logTo } from '@intake/test-kit/log-to'
import { createWorkerMetrics } from '../../src/watch/metrics.ts'
import type { ClaimedFrame } from '@intake/queue/consume'
import { compress } from '@intake/queue/frame'
import { createRefusalRun } from '../../src/deliver/refusal-run.ts'
import { storeBatch } from '../../src/deliver/store-batch.ts'

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const row = (n: number, extra = {}) => JSON.stringify({ id: idOf(n), n, ...extra })
const frame = (...rows: string[]): ClaimedFrame => ({
  attempts: 1,
  receivedAtMs: undefined,
  rows: rows.length,
  jsonBytes: rows.join('\n').length + 1,
  ...compress(rows.map((one) => `${one}\n`).join('')),
})

/**
 * Creates a store whose first inserts fail with `failures`. After these failures it rejects every
 * insert with a row that contains `poison`.
 */
function build(failures: ClickHouseError[] = []) {
  const stored: string[] = []
  const deadLetters: { id: string; table: string; row: string; error_code: number }[] = []
  const lines: string[] = []
  const stop = new AbortController()
  let calls = 0
  const registry = createMetrics()
  const options = {
    store: {
      async insertRows(insert: InsertRows) {
        const { table, rows } = insert
        calls++
        const failure = failures.shift()
        if (failure) throw failure
        const sent = insertText(insert).trimEnd().split('\n')
        t.equal(sent.length, rows, 'announces as many rows as it sends')
        if (table === 'dead_letters') {
          deadLetters.push(...sent.map((one) => JSON.parse(one) as (typeof deadLetters)[0]))
        } else if (sent.some((one) => one.includes('poison'))) throw rejected()
        else stored.push(...sent)
      },
    },
    kind: 'logs' as const,
    events: createWorkerMetrics(registry),
    log: logTo((line) => void lines.push(line)),
    refusalRun: createRefusalRun(),
    signal: stop.signal,
    clock: hurriedClock,
  }
  return { options, stored, deadLetters, lines, stop, registry, calls: () => calls }
}

const store = async (...args: Parameters<typeof storeBatch>): Promise<ClaimedFrame[]> => [
  ...(await storeBatch(...args)),
]

const rejected = () => new ClickHouseError('rejected', { kind: 'rejected', code: 117 })
const unavailable = () => new ClickHouseError('unavailable', { kind: 'retry' })
const late = () => new ClickHouseError('late', { kind: 'split' })
const memory = () => new ClickHouseError('memory', { kind: 'split', code: 241, isTooLarge: true })
const unknown = () => new ClickHouseError('unknown', { kind: 'split', code: 9_999 })
const times = (count: number, failure: () => ClickHouseError) =>
  Array.from({ length: count }, failure)

t.test('a failed insert is repeated until it is confirmed', async (t) => {
  const { options, stored, lines, calls } = build([unavailable()])
  t.same(await store([frame(row(1)), frame(row(2))], options), [])
  t.same(stored, [row(1), row(2)])
  t.equal(calls(), 2)
  t.match(lines.join(''), 'docs/operations/problems.md#insert_retry')
})

t.test('one bad row among many frames is dead-lettered; the others are stored', async (t) => {
  const { options, stored, deadLetters, registry } = build()
  const frames = Array.from({ length: 20 }, (_, i) =>
    frame(...[0, 1, 2, 3].map((j) => row(i * 4 + j, i === 7 && j === 2 ? { poison: true } : {}))),
  )
  t.same(await store(frames, options), [])
  t.equal(stored.length, 79)
  t.equal(new Set(stored).size, 79)
  t.match(deadLetters, [{ id: idOf(30), table: 'logs', row: /poison/, error_code: 117 }])
  t.match(await registry.metrics(), 'intake_dead_letters_total{kind="logs"} 1')
})

t.test('a single rejection does not split an insert', async (t) => {
  const { options, stored, deadLetters, calls } = build([rejected()])
  await store([frame(row(1)), frame(row(2))], options)
  t.equal(calls(), 2)
  t.equal(stored.length, 2)
  t.equal(deadLetters.length, 0)
})

t.test('an insert that is too large is split at once, a late one at the second', async (t) => {
  for (const [failures, calls] of [
    [[memory()], 3],
    [times(2, late), 4],
  ] as const) {
    const built = build([...failures])
    t.same(await store([frame(row(1), row(2)), frame(row(3))], built.options), [])
    t.same(built.stored, [row(1), row(2), row(3)])
    t.equal(built.deadLetters.length, 0)
    t.equal(built.calls(), calls)
  }
})

t.test('a row that keeps failing delays no others: its frame is postponed', async (t) => {
  for (const failure of [memory, late, unknown]) {
    const { options, stored, deadLetters, lines } = build()
    const insert = options.store.insertRows
    options.store.insertRows = async (one) => {
      if (insertText(one).includes('heavy')) throw failure()
      return insert(one)
    }
    const heavy = frame(row(2), row(3, { heavy: true }))
    t.same(await store([frame(row(1)), heavy, frame(row(4))], options), [heavy])
    t.same(stored.toSorted(), [row(1), row(2), row(4)])
    t.same(deadLetters, [])
    t.match(lines.join(''), 'docs/operations/frame-postponed.md')
  }
})

t.test('a row that keeps failing with an unknown code is dead-lettered', async (t) => {
  for (const [attempts, postponed, letters] of [
    [7, 1, []],
    [8, 0, [{ error_code: 9_999 }]],
  ] as const) {
    const { options, deadLetters } = build([unknown()])
    const often = { ...frame(row(1)), attempts }
    t.equal((await store([often], options)).length, postponed)
    t.match(deadLetters, letters)
    t.equal(deadLetters.length, letters.length)
  }
})

t.test('while everything fails with an unknown code, no row is dead-lettered', async (t) => {
  const { options, deadLetters, lines } = build(times(100, unknown))
  const often = [frame(row(1), row(2)), frame(row(3))].map((one) => ({ ...one, attempts: 9 }))
  t.same(await store(often, options), often)
  t.same(deadLetters, [])
  t.match(lines.join(''), 'writing a dead letter failed; its row will be retried')
})

t.test('a table that takes no row, with an unknown code, loses none', async (t) => {
  // Only inserts into `logs` fail; dead letters could be stored.
  const { options, stored, deadLetters } = build()
  const { insertRows } = options.store
  let isBroken = true
  options.store.insertRows = (insert) =>
    isBroken && insert.table === 'logs' ? Promise.reject(unknown()) : insertRows(insert)
  const frames = [0, 100].map((from) => ({
    ...frame(...Array.from({ length: 100 }, (_, n) => row(from + n))),
    attempts: 9,
  }))
  t.same(await store(frames, options), frames, 'both frames stay in the queue')
  t.equal(deadLetters.length, 16)
  isBroken = false
  t.same(await store(frames, options), [])
  t.equal(stored.length, 200)
})

t.test('an abort ends the insert of a dead letter', async (t) => {
  const { options, stop } = build()
  const { insertRows } = options.store
  options.store.insertRows = (insert) => {
    if (insert.table !== 'dead_letters') return insertRows(insert)
    return new Promise((_, reject) => {
      insert.signal?.addEventListener('abort', () => reject(unavailable()))
      setImmediate(() => stop.abort())
    })
  }
  await t.rejects(storeBatch([frame(row(1, { poison: true }))], options), { name: 'AbortError' })
})

t.test('writing the dead letter of a rejected row is repeated until it is confirmed', async (t) => {
  const failures = [...times(2, rejected), ...times(12, unknown), ...times(12, unavailable)]
  const { options, deadLetters, calls } = build(failures)
  await store([frame(row(1))], options)
  t.match(deadLetters, [{ id: idOf(1), error_code: 117 }])
  t.equal(calls(), 2 + 12 + 12 + 1)
})

t.test('a table that rejects every row causes few dead letters', async (t) => {
  const { options, stored, deadLetters, lines, calls } = build()
  const poison = (n: number) => row(n, { poison: true })
  const frames = Array.from({ length: 40 }, (_, n) => frame(poison(2 * n), poison(2 * n + 1)))
  const postponed = await store(frames, options)
  t.equal(deadLetters.length, 16)
  t.equal(postponed.length, 32)
  t.match(lines.join(''), 'docs/operations/problems.md#rows_refused')

  const before = calls()
  t.equal((await store(postponed, options)).length, 32)
  t.equal(calls() - before, 64, 'no frame is split into rows meanwhile')
  const lone = frame(poison(1_001))
  t.same(await store([lone], options), [lone])
  t.equal(deadLetters.length, 16, 'none while no row is stored')

  const good = frame(row(1_000))
  t.equal((await store([...postponed, good], options)).length, 32)
  t.same(stored, [row(1_000)])
  await store(postponed, options)
  t.equal(deadLetters.length, 32, 'the table accepts other rows, so these rows are at fault')
})

t.test('a rejected count waits in the queue: it never becomes a dead letter', async (t) => {
  const { options, deadLetters } = build()
  const count = frame(row(1, { poison: true }))
  t.same(await store([count], { ...options, kind: 'outcomes' }), [count])
  t.same(deadLetters, [])
})

t.test('frames of two codings are inserted apart, and a bad row of each is found', async (t) => {
  const { options, stored, deadLetters } = build()
  const gzipped = (...rows: string[]) => {
    const bytes = gzipSync(rows.map((one) => `${one}\n`).join(''))
    return { ...frame(...rows), coding: 'gzip' as const, bytes }
  }
  const poison = { is: 'poison' }
  // Compressed by Node 26. Its rows are those of `frame('{"id":"z1"}', '{"id":"z2","is":"poison"}')`.
  const base64 = 'KLUv/SAmMQEAeyJpZCI6InoxIn0KeyJpZCI6InoyIiwiaXMiOiJwb2lzb24ifQo='
  const zstd = { ...frame('', ''), coding: 'zstd' as const, bytes: Buffer.from(base64, 'base64') }
  const frames = [gzipped(row(1)), zstd, gzipped(row(2), row(3, poison)), gzipped(row(4))]
  t.same(await store(frames, options), [])
  t.same(stored.toSorted(), ['{"id":"z1"}', row(1), row(2), row(4)].toSorted())
  const seen = deadLetters.map((one) => one.row).toSorted()
  t.same(seen, ['{"id":"z2","is":"poison"}', row(3, poison)].toSorted())
})

t.test('a frame that cannot be decompressed becomes one dead letter', async (t) => {
  const gzip = () => new ClickHouseError('gzip', { kind: 'rejected', code: 354 })
  const { options, deadLetters } = build([gzip(), gzip()])
  const content = { rows: 3, coding: 'gzip', bytes: Buffer.from('no gzip') } as const
  await store([{ ...frame(), ...content }], options)
  t.match(deadLetters, [{ row: Buffer.from('no gzip').toString('base64') }])
})

t.test('an insert that needs an operator is repeated, never split', async (t) => {
  const operator = () => new ClickHouseError('no such table', { kind: 'operator', code: 60 })
  const { options, stored, deadLetters, lines } = build([operator(), operator()])
  await store([frame(row(1))], options)
  t.equal(stored.length, 1)
  t.equal(deadLetters.length, 0)
  t.match(lines.join(''), 'docs/operations/problems.md#insert_operator')
})

t.test('repeats until it is aborted', async (t) => {
  const { options, stop, stored } = build(times(100, unavailable))
  const done = storeBatch([frame(row(1))], options)
  stop.abort()
  await t.rejects(done, { name: 'AbortError' })
  t.equal(stored.length, 0)
})

t.test('rows that were stored are announced; the others are not', async (t) => {
  const announced: string[] = []
  const { options } = build()
  const poison = row(2, { text: 'poison' })
  const postponed = await storeBatch([frame(row(1), poison), frame(row(3))], {
    ...options,
    announce: async (rows) => void announced.push(...rows),
  })
  t.equal(postponed.size, 0)
  t.same(announced.toSorted(), [row(1), row(3)])
})

t.test('frames whose rows could not be announced are handed out again', async (t) => {
  const { options, stored, lines } = build()
  const frames = [frame(row(1)), frame(row(2))]
  const postponed = await storeBatch(frames, {
    ...options,
    announce: () => Promise.reject(new Error('no Redis')),
  })
  t.same(new Set(postponed), new Set(frames))
  t.equal(stored.length, 2, 'they are stored')
  t.match(lines.join(''), 'docs/operations/webhook-fails.md')
})
