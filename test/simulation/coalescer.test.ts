import t from 'tap'
import { createCoalescer } from '../../worker/src/coalescer.ts'
import { actionsOfScript, follow, scripts, type Settling } from './conformance.ts'
import { createMergeGathering } from './merge-gathering.ts'
import { createRandom } from './random.ts'

const limits = { framesMax: 4, bytesMax: 100 }

t.test('the coalescer of the worker makes the merges of the model', async (t) => {
  for (const seed of scripts) {
    const random = createRandom(seed)
    const lingerMs = random.pick([0, 1_000_000])
    const inserts: (Settling & { frames: number[] })[] = []
    const coalescer = createCoalescer({
      insert: (frames) =>
        new Promise((confirm, fail) => {
          inserts.push({ frames: frames.map(({ rows }) => rows), confirm, fail })
        }),
      lingerMs,
      ...limits,
    })
    // A merge that is full leaves no timer behind.
    t.teardown(
      () => void coalescer.add({ rows: 0, jsonBytes: limits.bytesMax, gzip: Buffer.alloc(0) }),
    )

    const gathering = createMergeGathering<{ frame: number; bytes: number }>(limits)
    const merges: number[][] = []
    const outcomes: string[] = []
    const expected: string[] = []
    let frames = 0
    let isInserting = false

    const start = () => {
      merges.push(gathering.take().map(({ frame }) => frame))
      isInserting = true
    }
    const add = () => {
      const frame = ++frames
      const bytes = random.pick([1, 20, 40, 150])
      gathering.add({ frame, bytes })
      if (gathering.isDue() === 'now') start()
      coalescer.add({ rows: frame, jsonBytes: bytes, gzip: Buffer.alloc(0) }).then(
        () => outcomes.push(`${frame} stored`),
        () => outcomes.push(`${frame} failed`),
      )
    }
    const settle = () => {
      if (!isInserting) return
      const isStored = random.chance(0.7)
      if (isStored) inserts.at(-1)?.confirm()
      else inserts.at(-1)?.fail(new Error('as the script says'))
      for (const frame of merges.at(-1) ?? []) {
        expected.push(`${frame} ${isStored ? 'stored' : 'failed'}`)
      }
      isInserting = false
      gathering.settled()
      if (gathering.isDue() === 'now') start()
    }

    for (let action = 0; action < actionsOfScript; action++) {
      const count = random.pick([0, 0, 1, 2, 6])
      for (let frame = 0; frame < count; frame++) add()
      if (count === 0) settle()
      if (lingerMs === 0 && gathering.isDue() === 'soon') start()
      await follow({ real: () => inserts.map((one) => one.frames), model: () => merges })
      await follow({ real: () => outcomes, model: () => expected })
    }
    t.pass(`script ${seed}: ${frames} frames, ${merges.length} merges`)
  }
})
