import { randomBytes, randomInt } from 'node:crypto'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import type { Frame } from '@intake/queue'
import { createTestClock } from '@intake/test-kit/test-clock'
import { GroupCommit } from '../../src/commit/group-commit.ts'
import type { Row } from '../../src/record/row.ts'
import { linesOf } from '../support.ts'

const row = (n: number, partition = '2026-11', size = 0): Row => ({
  partition,
  json: JSON.stringify({ n, text: 'x'.repeat(size) }),
  apiKeyId: 'key_1',
  receivedAtMs: 0,
})

const soon = 60_000

/** Creates a group commit whose frames are confirmed by the test. */
function build(loopUtilization: () => number = () => 0) {
  const clock = createTestClock()
  const frames: {
    numbers: number[]
    bytes: number
    deadline: number
    confirm: () => void
    fail: (error: Error) => void
  }[] = []
  let stored = 0
  const unsent = { byKey: new Map<string, number>(), bytes: 0, bytesMax: Infinity, send() {} }
  const over = { logs: new Set<string>(), feedback: new Set<string>() }
  const commit = new GroupCommit({
    producer: {
      add: (frame: Frame, deadline) =>
        new Promise((confirm, fail) => {
          const lines = linesOf(frame)
          t.equal(lines.length, frame.rows)
          const numbers = lines.map((line) => (JSON.parse(line) as { n: number }).n)
          frames.push({ numbers, bytes: frame.bytes.length, deadline, confirm, fail })
        }),
    },
    loopUtilization,
    acceptanceMsMax: 50_000,
    wallMs: clock.now,
    onStored: ({ rows }) => (stored += rows),
    kind: 'logs',
    shares: { unsent, over },
    clock,
  })
  /** Returns the frames sent so far; fails if there are fewer or more than `count`. */
  const sent = async (count: number) => {
    await clock.advance(0)
    t.equal(frames.length, count)
    return frames
  }
  /** As `sent`, but returns the rows of the frames. */
  const rowsSent = async (count: number) => (await sent(count)).map(({ numbers }) => numbers)
  const confirm = () => frames.forEach((frame) => frame.confirm())
  return { clock, commit, frames, sent, rowsSent, confirm, stored: () => stored, unsent, over }
}

t.test('a lone row is sent at once, and settles only when its frame is confirmed', async (t) => {
  const { commit, sent, stored } = build()
  let settled = false
  const done = commit.append([row(1)], soon).then(() => (settled = true))
  const [frame] = await sent(1)
  t.match(frame, { numbers: [1], deadline: soon })
  t.equal(settled, false)
  frame!.confirm()
  await done
  t.equal(stored(), 1)
})

t.test('a stored frame counts for the API keys of its rows, by their size', async (t) => {
  const { commit, sent, unsent } = build()
  const of = (apiKeyId: string, size: number) => {
    const json = JSON.stringify({ n: 0, text: randomBytes(size).toString('hex') })
    return { ...row(0), json, apiKeyId }
  }
  const done = commit.append([of('a', 0), of('b', 900), of('b', 900), of('a', 0)], soon)
  const [frame] = await sent(1)
  t.equal(unsent.byKey.size, 0, 'nothing is counted before')
  frame!.confirm()
  await done
  t.same([...unsent.byKey.keys()].toSorted(), ['a', 'b'])
  const [a = 0, b = 0] = [unsent.byKey.get('a'), unsent.byKey.get('b')]
  t.ok(b > 10 * a && a > 0)
  t.ok(Math.abs(a + b - frame!.bytes) < 2, 'together they have the compressed size')
})

t.test('queue_full for what waits while its key is over its share', async (t) => {
  const { clock, commit, frames, sent, confirm, over } = build()
  const range = (length: number) => Array.from({ length }, (_, n) => row(n))
  const before: Promise<void>[] = []
  for (let n = 1; n <= 3; n++) {
    before.push(commit.append([row(n)], soon))
    await clock.advance(10)
    await sent(n)
  }
  const begun = commit.append(range(1_500), soon)
  await clock.advance(10)
  await sent(4)
  const refused = t.rejects(commit.append(range(2), soon), { code: 'queue_full' })
  const other = commit.append([{ ...row(7), apiKeyId: 'key_2' }], soon)
  over.logs.add('key_1')
  confirm()
  await refused
  await sent(5)
  t.equal(frames[4]!.numbers.length, 501, 'the rest of what was begun, and another key')
  confirm()
  await Promise.all([...before, begun, other])
})

t.test('characters of several bytes hide nothing of what a key holds', async (t) => {
  const { commit, frames, sent, unsent } = build()
  const text = Array.from({ length: 5_000 }, () => String.fromCodePoint(randomInt(0x4e00, 0x9fff)))
  const json = JSON.stringify({ n: 0, text: text.join('') })
  const done = commit.append([{ ...row(0), json }], soon)
  const [frame] = await sent(1)
  frame!.confirm()
  await done
  t.equal(Math.round(unsent.byKey.get('key_1') ?? 0), frames[0]!.bytes)
})

t.test('rows gather while four frames are in flight; the next takes all of them', async (t) => {
  const { clock, commit, frames, sent, confirm } = build()
  const all: Promise<void>[] = []
  for (let n = 0; n < 4; n++) {
    all.push(commit.append([row(n)], soon))
    await clock.advance(10)
    await sent(n + 1)
  }
  for (let n = 4; n < 20; n++) all.push(commit.append([row(n)], soon + n + 1))
  await sent(4)
  frames[2]!.confirm()
  await sent(5)
  t.same(frames[4]!.numbers, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
  t.equal(frames[4]!.deadline, soon + 20, 'the latest deadline of its rows')
  confirm()
  await Promise.all(all)
})

t.test('a frame has rows of one partition, at most 1,000 rows and about 1 MiB', async (t) => {
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
  const cases: [rows: Row[], frames: number[][]][] = [
    [range(0, 2_001).map((n) => row(n)), [range(0, 1_000), range(1_000, 2_000), [2_000]]],
    [
      [row(1), row(2, '2026-12')],
      [[1], [2]],
    ],
    // Months that alternate do not divide a frame.
    [
      range(0, 200).map((n) => row(n, n % 2 === 0 ? '2026-11' : '2026-12')),
      [0, 1].map((first) => range(0, 100).map((n) => 2 * n + first)),
    ],
    [range(0, 3).map((n) => row(n, '2026-11', 600_000)), [[0], [1], [2]]],
  ]
  for (const [rows, expected] of cases) {
    const { clock, commit, rowsSent } = build()
    for (const one of rows) void commit.append([one], soon)
    t.same(await rowsSent(expected.length), expected)
    t.equal(clock.now(), 0, 'without a pause')
  }
})

t.test('a failed frame fails only its own rows', async (t) => {
  const { commit, sent } = build()
  const first = commit.append([row(1)], soon)
  await sent(1)
  const second = commit.append([row(2)], soon)
  const frames = await sent(2)
  frames[0]!.fail(new IntakeError('outcome_unknown', 'no response'))
  await t.rejects(first, { code: 'outcome_unknown' })
  frames[1]!.confirm()
  await second
})

t.test('rows of one request that all fail are certainly not stored only if each is', async (t) => {
  const { commit, sent } = build()
  const rows = commit.append([row(1, '2026-10'), row(2, '2026-11')], soon)
  const [first, second] = await sent(2)
  first!.fail(new IntakeError('queue_unavailable', 'not sent'))
  second!.fail(new Error('a bug'))
  await t.rejects(rows, { code: 'internal_error' })
})

t.test('close waits for every row that was appended', async (t) => {
  const { commit, sent, stored } = build()
  void commit.append([row(1)], soon)
  const closing = commit.close()
  ;(await sent(1))[0]!.confirm()
  await closing
  t.equal(stored(), 1)
})

t.test('a row is refused and never sent after its deadline; the others are stored', async (t) => {
  const { commit, rowsSent, confirm } = build()
  const late = commit.append([row(1)], -1)
  const early = commit.append([row(2)], soon - 30_000)
  const fresh = commit.append([row(3)], soon)
  await t.rejects(late, { code: 'queue_unavailable' })
  t.same(await rowsSent(2), [[2], [3]], 'different deadlines do not share a frame')
  confirm()
  await Promise.all([early, fresh])
})

t.test('rows that arrive one after the other are sent without delay', async (t) => {
  const { clock, commit, sent } = build()
  for (let n = 1; n <= 20; n++) {
    const done = commit.append([row(n)], soon)
    const frames = await sent(n)
    t.equal(clock.now(), 0)
    frames.at(-1)!.confirm()
    await done
  }
})

t.test('rows that arrive close together are sent in frames 4 ms apart', async (t) => {
  const { clock, commit, frames, confirm } = build()
  const all: Promise<void>[] = []
  for (let ms = 0; ms < 40; ms++) {
    all.push(commit.append([row(2 * ms)], soon), commit.append([row(2 * ms + 1)], soon))
    await clock.advance(1)
    confirm()
  }
  await clock.advance(4)
  confirm()
  await Promise.all(all)
  const found = frames.map(({ numbers }) => numbers.length)
  t.same(found, [2, 6, ...Array.from({ length: 9 }, () => 8)])
})

t.test('frames start further apart while the event loop is busy', async (t) => {
  const pauseAfterFrame = async (utilization: number) => {
    const { clock, commit, sent } = build(() => utilization)
    void commit.append([row(1)], soon)
    void commit.append([row(2)], soon)
    await sent(1)
    void commit.append([row(3)], soon)
    return clock.pending()
  }
  t.same(await pauseAfterFrame(0.8), [4])
  t.same(await pauseAfterFrame(0.81), [8])
})

t.test('a row that is stored too long after its arrival is not acknowledged', async (t) => {
  const { clock, commit, sent, stored, confirm } = build()
  const old = commit.append([row(1)], 2 * soon)
  await clock.advance(1)
  const young = commit.append([{ ...row(2), receivedAtMs: 40_000 }], 2 * soon)
  await sent(2)
  await clock.advance(50_000)
  confirm()
  await t.rejects(old, { code: 'outcome_unknown' })
  await young
  t.equal(stored(), 2)
})

t.test('a row that waits too long after its arrival is certainly not stored', async (t) => {
  const { clock, commit, frames } = build()
  await clock.advance(50_001)
  await t.rejects(commit.append([row(1)], 2 * soon), { code: 'queue_unavailable' })
  t.equal(frames.length, 0)
})
