import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { attachmentKey } from '@intake/contract'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createWorkList } from '../../src/thumbnails/work-list.ts'

const time = '2026-11-26 00:00:00.000'
const sha256 = 'a'.repeat(64)
const idOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`
const feedbackOf = (index: number, api_key_id = 'key_a') => ({
  bundle_identifier: 'com.example.a',
  time,
  id: idOf(index),
  device_uuid: idOf(0),
  api_key_id,
})
const keyOf = (id: string) => attachmentKey({ id, time, number: 1, sha256, extension: 'jpg' })
const rowOf = (id: string) => ({
  attachments: [{ key: keyOf(id), content_type: 'image/jpeg', bytes: 1, sha256 }],
})
const timeOf = (parameter: unknown) => Date.parse(`${parameter as string}Z`)
/** The id of the feedback whose facts are stored. */
const storedId = (member: Uint8Array | undefined) =>
  (JSON.parse(gunzipSync(member!).toString()) as { id: string }).id

interface Options {
  total: number
  /** The time from storing the facts until the replica that is read has them. */
  lagMs?: number
  /** How many of the newest feedback records have no object. */
  missing?: number
  /** How many of the newest feedback records have an object that cannot be read. */
  unreadable?: number
}

/** @returns `stored`: how often facts were stored; `spans`: what was searched */
function createList(t: Test, options: Options) {
  const { total, lagMs = 0, missing = 0, unreadable = 0 } = options
  const clock = createTestClock()
  const factAt = new Map<string, number>()
  let stored = 0
  const spans: { from: number; before: number }[] = []
  const unexamined = () =>
    Array.from({ length: total }, (_, index) => feedbackOf(index)).filter(
      ({ id }) => (factAt.get(id) ?? Infinity) + lagMs > clock.now(),
    )
  const newest = (count: number) =>
    new Set(Array.from({ length: count }, (_, index) => keyOf(idOf(index))))
  const missingKeys = newest(missing)
  const unreadableKeys = newest(unreadable)
  const examineAll = createWorkList({
    clock,
    isClosed: () => false,
    count: () => {},
    onDecoderEnded: (error) => t.fail(String(error)),
    onError: (error) => t.match(error, { message: 'archived' }),
    reader: {
      async query<Row>(sql: string, { id, from, before }: Record<string, unknown> = {}) {
        const limit = /LIMIT (\d+) SETTINGS/.exec(sql)?.[1]
        const found = unexamined()
        if (limit !== undefined) {
          spans.push({ from: timeOf(from), before: timeOf(before) })
          return found.slice(0, Number(limit)) as Row[]
        }
        return (found.some((one) => one.id === id) ? [rowOf(String(id))] : []) as Row[]
      },
    },
    store: {
      async insertRows({ members: [row] }) {
        stored++
        const id = storedId(row)
        factAt.set(id, factAt.get(id) ?? clock.now())
      },
    },
    objects: {
      async get(key) {
        if (unreadableKeys.has(key)) throw new Error('archived')
        return missingKeys.has(key) ? undefined : Buffer.from('x')
      },
      async put() {},
    },
    decoder: {
      async examine() {
        await clock.advance(100)
        return { width: 1, height: 1, error: 'format' }
      },
    },
  })
  return { clock, examineAll, stored: () => stored, spans, repair: () => unreadableKeys.clear() }
}

/** Calls `examineAll` once. Returns how often it has stored facts. */
async function examined(t: Test, options: Options) {
  const { examineAll, stored } = createList(t, options)
  await examineAll()
  return stored()
}

t.test('a replica that does not have the facts yet delays and repeats no picture', async (t) => {
  t.equal(await examined(t, { total: 900, lagMs: 30_000 }), 900)
})

t.test('newer pictures that wait for their retry delay no picture', async (t) => {
  t.equal(await examined(t, { total: 900, missing: 200 }), 700)
})

t.test('pictures that can never be read delay no older picture', async (t) => {
  // Three are tried in every minute. When these are due again, others have not been tried yet.
  const { clock, examineAll, stored } = createList(t, { total: 51, unreadable: 50 })
  for (let turn = 0; turn < 50 && stored() === 0; turn++) {
    await examineAll().catch(() => {})
    await clock.advance(60_000)
  }
  t.equal(stored(), 1)
})

t.test('the last hour is searched at each poll, and all days every hour', async (t) => {
  const { clock, examineAll, spans } = createList(t, { total: 0 })
  const searched: number[] = []
  for (const minutes of [1, 58, 1, 0]) {
    await examineAll()
    searched.push(spans.length)
    await clock.advance(minutes * 60_000)
  }
  const all = searched[0] ?? 0
  t.same(searched, [all, all + 1, all + 2, 2 * all + 2])
  const days = spans.slice(1, all)
  t.ok(
    Date.now() - (days.at(-1)?.from ?? NaN) > 60 * 86_400_000,
    'made up to 30 days before it arrived',
  )
  for (const [index, { from, before }] of days.entries()) {
    t.equal(before - from, 86_400_000)
    t.ok(index === 0 || before === days[index - 1]?.from, 'no gap')
  }
})

t.test('pictures that take all of a turn delay none of another API key', async (t) => {
  const clock = createTestClock()
  const begun = clock.now()
  const honest = new Set([1, 2, 3].map(idOf))
  let slow = 100
  const nextSlow = () => feedbackOf(++slow, 'slow')
  const examineAll = createWorkList({
    clock,
    isClosed: () => honest.size === 0 || slow > 110,
    count: () => {},
    onDecoderEnded: () => {},
    onError: (error) => t.fail(String(error)),
    reader: {
      async query<Row>(_sql: string, { id, from, before }: Record<string, unknown> = {}) {
        if (id !== undefined) return [rowOf(id as string)] as Row[]
        if (timeOf(before) - timeOf(from) <= 86_400_000) return []
        // The slow sender always has some that are newer than all others.
        return [1, 2, 3].flatMap((n) => [nextSlow(), feedbackOf(n, 'honest')]) as Row[]
      },
    },
    store: { insertRows: async ({ members: [row] }) => void honest.delete(storedId(row)) },
    objects: { get: async (key) => Buffer.from(key), async put() {} },
    decoder: {
      async examine(bytes) {
        const isHonest = [...honest].some((id) => bytes.toString().includes(id))
        await clock.advance(isHonest ? 100 : 10_000)
        return { width: 1, height: 1, error: 'format' }
      },
    },
  })
  await examineAll()
  t.same([...honest], [])
  t.ok(clock.now() - begun < 11_000, 'after a single slow one')
})

t.test('after a failure of the object store, pictures are examined within minutes', async (t) => {
  const { clock, examineAll, stored, repair } = createList(t, { total: 1_100, unreadable: 1_100 })
  for (let poll = 0; poll < 400; poll++) {
    await examineAll().catch(() => {})
    await clock.advance(3_000)
  }
  repair()
  for (let poll = 0; poll < 12; poll++) {
    await examineAll()
    await clock.advance(60_000)
  }
  t.equal(stored(), 1_100)
})
