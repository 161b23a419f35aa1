import t from 'tap'
import type { Frame } from '@intake/contract'
import { createCoalescer } from '../../worker/src/coalescer.ts'
import { actionsOfScript, scripts, until, type Settling } from './conformance.ts'
import { createMergeGathering } from './merge-gathering.ts'
import { createRandom } from './random.ts'

t.test('the coalescer of the worker makes the merges of the model', async (t) => {
  const framesMax = 4
  for (const seed of scripts) {
    const random = createRandom(seed)
    const lingerMs = random.pick([0, 1_000_000])
    const real: (Settling & { frames: number[] })[] = []
    const coalescer = createCoalescer({
      insert: (frames) =>
        new Promise((confirm, fail) => {
          real.push({ frames: frames.map(({ rows }) => rows), confirm, fail })
        }),
      lingerMs,
      framesMax,
      bytesMax: Infinity,
    })
    const gathering = createMergeGathering<number>({ framesMax })
    const model: number[][] = []
    const expected = new Map<number, string>()
    const outcomes = new Map<number, string>()
    let frames = 0

    const take = () => void model.push(gathering.take())
    const add = () => {
      const frame: Frame = { rows: ++frames, gzip: Buffer.alloc(1) }
      gathering.add(frame.rows)
      if (gathering.isDue() === 'now') take()
      coalescer.add(frame).then(
        () => outcomes.set(frame.rows, 'stored'),
        () => outcomes.set(frame.rows, 'failed'),
      )
    }
    const settle = () => {
      const merge = model.at(-1)
      if (merge === undefined || merge.every((frame) => expected.has(frame))) return
      const isStored = random.chance(0.7)
      for (const frame of merge) expected.set(frame, isStored ? 'stored' : 'failed')
      if (isStored) real.at(-1)?.confirm()
      else real.at(-1)?.fail(new Error('as the script says'))
      gathering.settled()
      if (gathering.isDue() === 'now') take()
    }
    const settled = async () => {
      if (lingerMs === 0 && gathering.isDue() === 'soon') take()
      await until(() => real.length >= model.length && outcomes.size >= expected.size)
    }

    for (let action = 0; action < actionsOfScript; action++) {
      const count = random.pick([0, 0, 1, 2, 6])
      for (let frame = 0; frame < count; frame++) add()
      if (count === 0) settle()
      await settled()
    }
    // A merge that is full leaves no timer behind.
    while (outcomes.size < frames) {
      if (gathering.isDue() === 'soon') add()
      settle()
      await settled()
    }
    t.same(
      real.map((one) => one.frames),
      model,
      `the merges of script ${seed}`,
    )
    t.same(outcomes, expected, `each frame of script ${seed} settled as its merge`)
  }
})
