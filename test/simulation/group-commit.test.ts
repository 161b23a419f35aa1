import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createGroupCommit } from '../../gateway/src/group-commit.ts'
import { actionsOfScript, scripts, until, type Settling } from './conformance.ts'
import { createFrameGathering } from './frame-gathering.ts'
import { createRandom } from './random.ts'

t.test('the group commit of the gateway makes the frames of the model', async (t) => {
  for (const seed of scripts) {
    const random = createRandom(seed)
    const real = new Map<string, Settling>()
    const commit = createGroupCommit({
      producer: {
        add: ({ gzip }) =>
          new Promise((confirm, fail) => real.set(namesIn(gzip), { confirm, fail })),
      },
      onStored: () => {},
    })
    const gathering = createFrameGathering<{
      partition: string
      characters: number
      name: string
    }>({ framesInFlightMax: 4, rowsMax: 1_000, charactersMax: 1024 * 1024 })
    const model: string[] = []
    const inFlight: string[] = []
    const expected = new Map<string, string>()
    const outcomes = new Map<string, string>()
    let rows = 0

    const append = (padding: number) => {
      const name = `${seed}-${++rows}`
      const partition = random.pick(['2026-10', '2026-11', '2026-11', '2026-11'])
      const json = JSON.stringify({ name, padding: 'x'.repeat(padding) })
      gathering.add({ partition, characters: json.length + 1, name })
      commit.append({ id: name, partition, json }, Infinity).then(
        () => outcomes.set(name, 'stored'),
        (error: IntakeError) => outcomes.set(name, error.code),
      )
    }
    const settle = () => {
      const [frame] = inFlight.splice(random.below(inFlight.length), 1)
      if (frame === undefined) return
      const isStored = random.chance(0.7)
      for (const name of frame.split(' ')) {
        expected.set(name, isStored ? 'stored' : 'queue_unavailable')
      }
      if (isStored) real.get(frame)?.confirm()
      else real.get(frame)?.fail(new IntakeError('queue_unavailable', 'as the script says'))
      gathering.settled()
    }
    const settled = async () => {
      while (gathering.isReady()) {
        const frame = gathering
          .take()
          .map(({ name }) => name)
          .join(' ')
        model.push(frame)
        inFlight.push(frame)
      }
      await until(() => real.size >= model.length && outcomes.size >= expected.size)
    }

    for (let action = 0; action < actionsOfScript; action++) {
      const count = random.pick([0, 0, 1, 3, 20, random.chance(0.1) ? 1_500 : 0])
      const padding = random.pick([0, 10, count < 20 ? 400_000 : 0])
      for (let row = 0; row < count; row++) append(padding)
      if (count === 0) settle()
      await settled()
    }
    while (inFlight.length > 0) {
      settle()
      await settled()
    }
    await commit.close()
    t.same([...real.keys()].toSorted(), model.toSorted(), `the frames of script ${seed}`)
    t.same(outcomes, expected, `each row of script ${seed} settled as its frame`)
  }
})

function namesIn(gzip: Buffer): string {
  const lines = gunzipSync(gzip).toString().split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { name: string }).name).join(' ')
}
