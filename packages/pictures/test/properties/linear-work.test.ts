import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import t from 'tap'
import { checkProperty } from '../../../../gateway/test/properties/property.ts'
import { examinePicture, PictureError } from '../../src/index.ts'
import { createCorpus } from '../corpus/corpus.ts'
import { cpuMs } from '../cpu.ts'

const corpus = await createCorpus()
const bytesMax = 1_000_000

const hex = (text: string) => Buffer.from(text, 'hex')
const latin1 = (text: string) => Buffer.from(text, 'latin1')

/**
 * Bytes that a walk reacts to: markers, the beginnings of films and trailers, types of chunks and
 * boxes, and sizes and offsets. An offset is as likely to point back as ahead, because the
 * fragments are combined at random.
 */
const fragments = [
  ...'ftyp,SEFH,SEFT,IDAT,iCCP,ANMF,VP8 ,meta,iloc,infe,mdat,moov,II*\0,MM\0*,\0\x08,f'.split(','),
  ...['ff', '00', 'ff00', 'ffd0', 'ffd8', 'ffd9', 'ffda0008010100003f00', 'ffe10004', 'ffda'].map(
    hex,
  ),
  ...['00000018', '10000000', 'ffffff7f', '01', '2c', '21ff', '21f90400000000', '3b'].map(hex),
  // Two trailers of Samsung phones. The block of the first would begin before the file; the block
  // of the second begins just before the directory.
  'SEFH\x6a\0\0\0\x01\0\0\0\0\0\0\0\xff\xff\xff\x7f\0\0\0\0\x18\0\0\0SEFT',
  'SEFH\x6a\0\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x18\0\0\0SEFT',
].map((one) => (typeof one === 'string' ? latin1(one) : one))

const several = fc.array(fc.nat(fragments.length - 1), { minLength: 1, maxLength: 12 })
const join = (list: readonly number[]) => Buffer.concat(list.map((one) => fragments[one]!))

function walk(bytes: Buffer, type: string): void {
  try {
    examinePicture(bytes, type).removeMetadata()
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
  }
}

const plain = Buffer.alloc(bytesMax)
const hashMs = cpuMs(() => {
  for (let n = 0; n < 10; n++) createHash('sha256').update(plain).digest()
})

t.test('a megabyte of repeated fragments takes no longer than a few hashes of it', async (t) => {
  let slowest = 0
  await checkProperty(t, {
    runs: 1_000,
    value: fc.record({
      sample: fc.nat(corpus.length - 1),
      /** The part of the sample that precedes the fragments, in thousandths. */
      kept: fc.nat(1_000),
      repeated: several,
      last: several,
    }),
    holds({ sample, kept, repeated, last }) {
      const { bytes, type } = corpus[sample]!
      const head = bytes.subarray(0, Math.floor((bytes.length * kept) / 1_000))
      const tail = join(last)
      const between = Buffer.alloc(bytesMax - head.length - tail.length, join(repeated))
      const file = Buffer.concat([head, between, tail])
      // A walk that reads the megabyte once takes about as long as two SHA-256 hashes of it. A
      // quadratic walk takes as long as thousands. A slow walk is repeated up to twice, because a
      // linear walk is slow too if the process compiles or collects garbage meanwhile.
      let ms = Infinity
      for (let tries = 0; tries < 3 && ms > 20 * hashMs; tries++) {
        ms = Math.min(
          ms,
          cpuMs(() => walk(file, type)),
        )
      }
      slowest = Math.max(slowest, ms)
      if (ms > 20 * hashMs) throw new Error(`it took ${ms} ms, and ten hashes ${hashMs} ms`)
    },
  })
  t.comment(`the slowest took ${slowest} ms, ten hashes ${hashMs} ms`)
})
