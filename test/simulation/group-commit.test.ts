import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createGroupCommit } from '../../gateway/src/commit/group-commit.ts'
import { actionsOfScript, follow, scripts, type Settling } from './conformance.ts'
import { createFrameGathering } from './frame-gathering.ts'
import { createRandom } from './random.ts'

const limits = { framesInFlightMax: 4, rowsMax: 1_000, charactersMax: 1024 * 1024 }

t.test('the group commit of the gateway makes the same frames as the model', async (t) => {
  for (const seed of scripts) {
    const random = createRandom(seed)
    const adds = new Map<string, Settling>()
    const commit = createGroupCommit({
      producer: {
        add: ({ gzip }) =>
          new Promise((confirm, fail) => adds.set(namesIn(gzip), { confirm, fail })),
      },
      loopUtilization: () => 0,
      onStored: () => {},
    })
    const gathering = createFrameGathering<{
      partition: string
      characters: number
      name: string
    }>(limits)
    const frames: string[] = []
    const inFlight: string[] = []
    const outcomes: string[] = []
    const expected: string[] = []
    let rows = 0

    const append = (padding: number, partition: string) => {
      const name = `${seed}-${++rows}`
      const json = JSON.stringify({ name, padding: 'x'.repeat(padding) })
      gathering.add({ partition, characters: json.length + 1, name })
      commit.append({ id: name, partition, json }, Infinity).then(
        () => outcomes.push(`${name} stored`),
        (error: IntakeError) => outcomes.push(`${name} ${error.code}`),
      )
    }
    const settle = () => {
      const [frame] = inFlight.splice(random.below(inFlight.length), 1)
      if (frame === undefined) return
      const isStored = random.chance(0.7)
      if (isStored) adds.get(frame)?.confirm()
      else adds.get(frame)?.fail(new IntakeError('queue_unavailable', 'as the script says'))
      for (const name of frame.split(' ')) {
        expected.push(`${name} ${isStored ? 'stored' : 'queue_unavailable'}`)
      }
      gathering.settled()
    }
    const compare = async () => {
      while (gathering.isReady()) {
        const taken = gathering.take().map(({ name }) => name)
        frames.push(taken.join(' '))
        inFlight.push(taken.join(' '))
      }
      // Frames are compressed concurrently, so they can arrive in another order.
      await follow({ real: () => [...adds.keys()].toSorted(), model: () => frames.toSorted() })
      await follow({ real: () => outcomes, model: () => expected })
    }

    for (let action = 0; action < actionsOfScript; action++) {
      const count = random.pick([0, 0, 1, 3, 20, random.chance(0.1) ? 1_500 : 0])
      const padding = random.pick([0, 10, count <= 20 ? random.below(300_000) : 0])
      let partition = '2026-11'
      for (let row = 0; row < count; row++) {
        if (count === 20 && random.chance(0.3)) partition = random.pick(['2026-10', '2026-11'])
        append(padding, partition)
      }
      if (count === 0) settle()
      await compare()
    }
    while (inFlight.length > 0) {
      settle()
      await compare()
    }
    await commit.close()
    t.pass(`script ${seed}: ${rows} rows, ${frames.length} frames`)
  }
})

function namesIn(gzip: Buffer): string {
  const lines = gunzipSync(gzip).toString().split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { name: string }).name).join(' ')
}
