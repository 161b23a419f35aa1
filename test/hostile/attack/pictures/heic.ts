import { mebibyte } from '../bodies.ts'
import {
  type CostlyPicture,
  bytesMax,
  filled,
  hex,
  latin1,
  manyParts,
  times,
  tooMany,
  tooOften,
  u16,
  u32,
} from './bytes.ts'
import { jpegScan } from './jpeg.ts'
import { profileOfTags } from './metadata.ts'

function box(type: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([u32(content.length + 8), latin1(type), content])
}

const fileType = box('ftyp', latin1('heic\0\0\0\0mif1heic'))
const handler = box('hdlr', Buffer.alloc(8), latin1('pict'), Buffer.alloc(13))
const imageSize = box('ispe', u32(0, 16, 16))

type Extent = [offset: number, length: number]

/**
 * A HEIC with one image. Its box `iloc` lists the image's data `locations` times, always as the
 * same range: from the start of the data to the end of the file.
 *
 * @param options.metadata where the data of a second item is; the gateway removes this data
 */
function heic(options: {
  kind: string
  locations: number
  properties?: Buffer[]
  metadata?: Extent[]
  data: Buffer
}): Buffer {
  const { kind, locations, properties = [], metadata = [], data } = options
  const info = (id: number, type: string) =>
    box('infe', u32(0x0200_0000), u16(id, 0), latin1(`${type}\0`))
  // Offsets and lengths have four bytes. A length of zero means everything up to the end.
  const location = (id: number, extents: Extent[]) =>
    Buffer.concat([u32(id), u16(0, 0, extents.length), u32(...extents.flat())])
  const image = location(1, [[500 + 8 * metadata.length, 0]])
  return Buffer.concat([
    fileType,
    box(
      'meta',
      u32(0),
      handler,
      box('iinf', u32(0), u16(2), info(1, kind), info(2, 'Exif')),
      box('iprp', box('ipco', imageSize, ...properties)),
      box(
        'iloc',
        u32(0x0200_0000),
        u16(0x4400),
        u32(locations + 1),
        times(image, locations),
        location(2, metadata),
      ),
    ),
    box('mdat', data),
  ])
}

/** A HEIC sequence with the given tables: offsets of its chunks, and sizes of its samples. */
function heicSequence(tables: { offsets: Buffer; sizes: Buffer; samples: number }): Buffer {
  const { offsets, sizes, samples } = tables
  const header = box('tkhd', Buffer.alloc(76), u32(16 << 16, 16 << 16))
  const table = box(
    'stbl',
    box('stco', u32(0, offsets.length / 4), offsets),
    box('stsc', u32(0, 1, 1, samples, 1)),
    box('stsz', u32(0, sizes.length > 0 ? 0 : 1, samples), sizes),
  )
  const track = box('trak', header, box('mdia', handler, box('minf', table)))
  return Buffer.concat([box('ftyp', latin1('msf1\0\0\0\0heic')), box('moov', track)])
}

export const heicOfManyParts: readonly CostlyPicture[] = [
  {
    name: 'boxes without content',
    type: 'image/heic',
    bytes: () => filled(fileType, box('free')),
    refusal: tooMany,
  },
]

export const craftedHeic: readonly CostlyPicture[] = [
  {
    name: 'a thousand items with the same JPEG',
    type: 'image/heic',
    bytes: () => heic({ kind: 'jpeg', locations: 1_000, data: Buffer.alloc(mebibyte) }),
    refusal: tooOften,
  },
  {
    name: 'an item that is a JPEG of fill bytes',
    type: 'image/heic',
    bytes: () => heic({ kind: 'jpeg', locations: 1, data: Buffer.alloc(bytesMax - 1_000, 0xff) }),
  },
  {
    name: 'Exif that refers to the whole file a thousand times',
    type: 'image/heic',
    bytes: () =>
      heic({
        kind: 'hvc1',
        locations: 1,
        metadata: Array.from({ length: 1_000 }, () => [20_000, bytesMax]),
        data: Buffer.alloc(bytesMax - 20_000, 1),
      }),
    refusal: tooOften,
  },
  {
    name: 'a JPEG of restarts, and Exif in as many parts as possible',
    type: 'image/heic',
    bytes() {
      const metadata = Array.from({ length: manyParts - 100 }, (_, n): Extent => {
        return [bytesMax - 2 * ((n * 7_919) % manyParts), 1]
      })
      const picture = heic({
        kind: 'jpeg',
        locations: 1,
        metadata,
        data: Buffer.alloc(bytesMax - 1_000 - 8 * metadata.length, hex('ffd0')),
      })
      jpegScan.copy(picture, 500 + 8 * metadata.length)
      return picture
    },
  },
  {
    name: 'profiles with a thousand tags',
    type: 'image/heic',
    bytes() {
      const color = box('colr', latin1('prof'), profileOfTags(1_000))
      const properties = Array.from({ length: 600 }, () => color)
      return heic({ kind: 'hvc1', locations: 1, properties, data: Buffer.alloc(mebibyte) })
    },
    refusal: tooMany,
  },
  {
    name: 'chunks behind the end of the file',
    type: 'image/heic',
    bytes() {
      const offsets = Buffer.alloc(bytesMax - 500 - (bytesMax % 4), 0xff)
      return heicSequence({ offsets, sizes: Buffer.alloc(0), samples: offsets.length / 4 })
    },
    refusal: tooMany,
  },
  {
    name: 'samples without bytes',
    type: 'image/heic',
    bytes() {
      const sizes = Buffer.alloc(bytesMax - 500 - (bytesMax % 4))
      return heicSequence({ offsets: u32(100), sizes, samples: sizes.length / 4 })
    },
    refusal: tooMany,
  },
]
