import * as fc from 'fast-check'
import t from 'tap'
import { checkProperty } from '../../../../gateway/test/properties/property.ts'
import { examinePicture, PictureError } from '../../src/index.ts'
import { createCorpus } from '../corpus/corpus.ts'
import { cpuMs } from '../cpu.ts'

const corpus = await createCorpus()
const room = 64
/**
 * The limit of the CPU time of one walk. A file as small as those of the corpus takes microseconds;
 * a very long loop would exceed the limit.
 */
const msMax = 2_000

const mutation = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), at: fc.nat(), value: fc.nat(255) }),
  fc.record({
    kind: fc.constant('number' as const),
    at: fc.nat(),
    value: fc.constantFrom(0, 1, 0x7fff_ffff, 0xffff_fff0, 0xffff_ffff),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(), value: fc.nat(64) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), value: fc.nat(64) }),
)
type Mutation = typeof mutation extends fc.Arbitrary<infer One> ? One : never

/**
 * Applies a mutation. Half of the positions are near the beginning of the file, where most
 * important bytes are.
 */
function mutate(bytes: Buffer, one: Mutation): Buffer {
  const within = one.at % 2 === 0 ? bytes.length : Math.min(bytes.length, 600)
  const at = within === 0 ? 0 : (one.at >>> 1) % within
  if (one.kind === 'cut') return bytes.subarray(0, at)
  if (one.kind === 'remove') {
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + one.value)])
  }
  if (one.kind === 'repeat') {
    const end = Math.min(at + one.value, bytes.length)
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
  }
  const changed = Buffer.from(bytes)
  if (one.kind === 'byte' && at < changed.length) changed[at] = one.value
  if (one.kind === 'number' && at + 4 <= changed.length) changed.writeUInt32BE(one.value, at)
  return changed
}

t.test('a damaged picture is read or refused, in its bytes and in bounded time', async (t) => {
  let read = 0
  await checkProperty(t, {
    runs: 10_000,
    value: fc.record({
      sample: fc.nat(corpus.length - 1),
      mutations: fc.array(mutation, { minLength: 1, maxLength: 4 }),
      /**
       * The index of a sample: the file is walked in the format of this sample. If null, the file
       * is walked in its own format, which is the usual case.
       */
      type: fc.oneof(
        { weight: 19, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.nat(corpus.length - 1) },
      ),
    }),
    holds({ sample, mutations, type }) {
      const { bytes, type: own } = corpus[sample]!
      const damaged = mutations.reduce(mutate, bytes)
      const around = Buffer.alloc(damaged.length + 2 * room, 0xa5)
      damaged.copy(around, room)
      const ms = cpuMs(() => {
        try {
          const given = around.subarray(room, room + damaged.length)
          const kept = examinePicture(
            given,
            type === null ? own : corpus[type]!.type,
          ).removeMetadata()
          if (kept.length > damaged.length || kept.byteOffset !== given.byteOffset)
            throw new Error('it grew')
          read++
        } catch (error) {
          if (!(error instanceof PictureError)) throw error
        }
      })
      if (ms > msMax) throw new Error(`it took ${ms} ms`)
      const outside = [around.subarray(0, room), around.subarray(-room)]
      if (!outside.every((part) => part.every((byte) => byte === 0xa5)))
        throw new Error('it wrote outside')
    },
  })
  t.comment(`${read} of them read`)
})
