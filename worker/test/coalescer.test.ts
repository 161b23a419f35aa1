import t from 'tap'
import type { Frame } from '@intake/contract'
import { createCoalescer } from '../src/coalescer.ts'

const frame = (rows: number, bytes = 1): Frame => ({
  rows,
  jsonBytes: bytes,
  gzip: Buffer.alloc(0),
})

/** A coalescer whose inserts are settled by hand. */
function build(options: { lingerMs?: number; framesMax?: number; bytesMax?: number }) {
  const inserts: { frames: Frame[]; confirm: () => void; fail: (error: Error) => void }[] = []
  const coalescer = createCoalescer({
    insert: (frames) =>
      new Promise((confirm, fail) => {
        inserts.push({ frames, confirm, fail })
      }),
    lingerMs: 0,
    framesMax: 100,
    bytesMax: 1_000,
    ...options,
  })
  const started = async (count: number) => {
    while (inserts.length < count) await new Promise((resolve) => setImmediate(resolve))
    return inserts[count - 1]!
  }
  return { coalescer, inserts, started }
}

t.test('frames that wait together are one insert, and settle with it', async (t) => {
  const { coalescer, inserts, started } = build({})
  const settled = Promise.all([coalescer.add(frame(2)), coalescer.add(frame(3))])
  const { frames, confirm } = await started(1)
  t.same(frames, [frame(2), frame(3)])
  confirm()
  await settled
  t.equal(inserts.length, 1)
})

t.test('a full merge does not linger, by frames or by bytes', async (t) => {
  const byFrames = build({ lingerMs: 1_000_000, framesMax: 2 })
  void byFrames.coalescer.add(frame(1))
  void byFrames.coalescer.add(frame(1))
  t.equal(byFrames.inserts.length, 1)
  const byBytes = build({ lingerMs: 1_000_000, bytesMax: 10 })
  void byBytes.coalescer.add(frame(1, 11))
  t.equal(byBytes.inserts.length, 1)
})

t.test('one insert runs at a time; what arrives meanwhile is the next', async (t) => {
  const { coalescer, inserts, started } = build({ framesMax: 2 })
  const first = Promise.all([coalescer.add(frame(1)), coalescer.add(frame(1))])
  const rest = Promise.all([coalescer.add(frame(2)), coalescer.add(frame(3))])
  t.equal(inserts.length, 1)
  inserts[0]?.confirm()
  await first
  const second = await started(2)
  t.same(second.frames, [frame(2), frame(3)])
  second.confirm()
  await rest
})

t.test('a failed insert fails its own frames only', async (t) => {
  const { coalescer, started } = build({ framesMax: 1 })
  const first = coalescer.add(frame(1))
  const second = coalescer.add(frame(1))
  ;(await started(1)).fail(new Error('given up'))
  await t.rejects(first, { message: 'given up' })
  ;(await started(2)).confirm()
  await second
})

t.test('a merge holds no more than its limits; the rest waits for the next', async (t) => {
  const { coalescer, started } = build({ framesMax: 2, bytesMax: 10 })
  const all = [1, 2, 3, 4, 5].map((rows) => coalescer.add(frame(rows, rows === 4 ? 11 : 1)))
  const sizes: number[][] = []
  for (let count = 1; sizes.flat().length < 5; count++) {
    const { frames, confirm } = await started(count)
    sizes.push(frames.map(({ rows }) => rows))
    confirm()
  }
  await Promise.all(all)
  t.same(sizes, [[1, 2], [3], [4], [5]])
})
