import { mebibyte } from './bodies.ts'

/** A picture that takes long to examine. */
export interface CostlyPicture {
  name: string
  type: string
  /** Makes the picture anew at each call. Pictures are not kept, because most are very large. */
  bytes: () => Buffer
  /** Why it is refused; undefined if it is accepted. */
  refusal?: string
}

const bytesMax = 10 * mebibyte - 100
const tooMany = 'it has too many parts'
const tooOften = 'it refers to the same bytes too often'

const hex = (text: string) => Buffer.from(text, 'hex')
export const latin1 = (text: string) => Buffer.from(text, 'latin1')
const times = (unit: Buffer, count: number) => Buffer.alloc(unit.length * count, unit)

function numbers(size: 2 | 4, values: number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length)
  values.forEach((value, n) => bytes.writeUIntBE(value, n * size, size))
  return bytes
}

export const u16 = (...values: number[]) => numbers(2, values)
export const u32 = (...values: number[]) => numbers(4, values)

/** Repeats `unit` between `head` and `tail`, as often as fits into `bytesMax`. */
function filled(head: Buffer, unit: Buffer, tail: Buffer = Buffer.alloc(0)): Buffer {
  const count = Math.floor((bytesMax - head.length - tail.length) / unit.length)
  return Buffer.concat([head, times(unit, count), tail])
}

const jpegStart = hex('ffd8ffc0000b080010001001011100')
const scanStart = hex('ffda0008010100003f00')
const jpegScan = Buffer.concat([jpegStart, scanStart])

/** A JPEG with as many scans as are accepted, each of escaped bytes. */
function manyScans(): Buffer {
  const count = 19_900
  const escaped = Math.floor((bytesMax - 100) / count - scanStart.length)
  const scan = Buffer.concat([scanStart, Buffer.alloc(escaped & ~1, hex('ff00'))])
  return Buffer.concat([jpegStart, times(scan, count), hex('ffd9')])
}

/** A JPEG that ends with the trailer of a Samsung phone, a directory of many blocks. */
function manyBlocks(): Buffer {
  const blocks = times(hex('000000000c00000000000000'), 800_000)
  const directory = Buffer.concat([latin1('SEFH'), Buffer.alloc(8), blocks])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(directory.length)
  return filled(jpegScan, Buffer.alloc(1), Buffer.concat([directory, length, latin1('SEFT')]))
}

type TiffEntry = [tag: number, type: 3 | 4 | 7, count: number, value: number]

const tiffSize: TiffEntry[] = [
  [256, 4, 1, 1],
  [257, 4, 1, 1],
]
const jpegInTiff: TiffEntry = [259, 3, 1, 7]

/** A TIFF with `count` directories, one after the other. All have the same entries. */
function tiff(count: number, entries: TiffEntry[]): Buffer {
  const bytes = Buffer.alloc(bytesMax)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  const size = 2 + entries.length * 12 + 4
  for (let n = 0; n < count; n++) {
    const at = 8 + n * size
    bytes.writeUInt16LE(entries.length, at)
    entries.forEach(([tag, type, values, value], i) => {
      const entry = at + 2 + i * 12
      bytes.writeUInt16LE(tag, entry)
      bytes.writeUInt16LE(type, entry + 2)
      bytes.writeUInt32LE(values, entry + 4)
      bytes.writeUInt32LE(value, entry + 8)
    })
    bytes.writeUInt32LE(n === count - 1 ? 0 : at + size, at + size - 4)
  }
  return bytes
}

/** A TIFF whose directory refers to itself. */
function endlessDirectory(): Buffer {
  const bytes = tiff(1, [...tiffSize, [330, 4, 1, 8]])
  bytes.writeUInt32LE(8, 8 + 2 + 3 * 12)
  return bytes
}

/** A TIFF with directories of 65,535 entries. Each directory begins within the one before. */
function overlappingDirectories(): Buffer {
  const bytes = Buffer.alloc(bytesMax, 1)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  for (let n = 0, at = 8; n < 25; n++, at += 200) {
    bytes.writeUInt16LE(0xffff, at)
    bytes.writeUInt32LE(at + 200, at + 2 + 0xffff * 12)
  }
  return bytes
}

/** A TIFF whose strips are JPEGs of escaped bytes; if they are shared, all are the same bytes. */
function jpegStrips(count: number, areShared: boolean): Buffer {
  const [offsets, sizes, from] = [1_000, 1_000 + 4 * count, 1_000 + 8 * count]
  const bytes = tiff(1, [...tiffSize, jpegInTiff, [273, 4, count, offsets], [279, 4, count, sizes]])
  bytes.fill(hex('ff00'), from)
  const size = Math.floor((bytesMax - from) / (areShared ? 1 : count) / 2) * 2
  for (let n = 0; n < count; n++) {
    const at = areShared ? from : from + n * size
    bytes.writeUInt32LE(at, offsets + 4 * n)
    bytes.writeUInt32LE(size, sizes + 4 * n)
    jpegScan.copy(bytes, at)
  }
  return bytes
}

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
  locations?: number
  /** The position of the image. */
  from?: number
  properties?: Buffer[]
  metadata?: Extent[]
  data: Buffer
}): Buffer {
  const { kind, locations = 1, properties = [], metadata = [], data } = options
  const { from = 500 + 8 * metadata.length } = options
  const info = (id: number, type: string) =>
    box('infe', u32(0x0200_0000), u16(id, 0), latin1(`${type}\0`))
  // Offsets and lengths have four bytes. A length of zero means everything up to the end.
  const location = (id: number, extents: Extent[]) =>
    Buffer.concat([u32(id), u16(0, 0, extents.length), u32(...extents.flat())])
  const images = times(location(1, [[from, 0]]), locations)
  const list = box(
    'iloc',
    u32(0x0200_0000),
    u16(0x4400),
    u32(locations + 1),
    images,
    location(2, metadata),
  )
  const infos = box('iinf', u32(0), u16(2), info(1, kind), info(2, 'Exif'))
  const described = box('iprp', box('ipco', imageSize, ...properties))
  return Buffer.concat([
    fileType,
    box('meta', u32(0), handler, infos, described, list),
    box('mdat', data),
  ])
}

/** A HEIC with many colour profiles. Each has a thousand tags, which the gateway keeps. */
function manyProfiles(): Buffer {
  const tags = 1_000
  const profile = Buffer.alloc(132 + tags * 14 + 1, 1)
  profile.write('acsp', 36, 'latin1')
  profile.writeUInt32BE(tags, 128)
  for (let tag = 0; tag < tags; tag++) {
    profile.write('desc', 132 + tag * 12, 'latin1')
    // The first tag has the last position, so the gateway has to sort the positions.
    profile.writeUInt32BE(132 + tags * 12 + 2 * (tags - tag), 136 + tag * 12)
    profile.writeUInt32BE(1, 140 + tag * 12)
  }
  const color = box('colr', latin1('prof'), profile)
  const properties = Array.from({ length: 600 }, () => color)
  return heic({ kind: 'hvc1', properties, data: Buffer.alloc(mebibyte) })
}

const pngHeader = hex('89504e470d0a1a0a0000000d494844520000001000000010080200000090916836')
const gifHeader = hex('47494638396110001000000000')

/**
 * Files of about the maximum size that need as much work as is accepted, or more. Without one of
 * the limits of `packages/pictures`, each of the refused ones is accepted, or takes minutes.
 */
export const costlyPictures: readonly CostlyPicture[] = [
  {
    name: 'segments of four bytes',
    type: 'image/jpeg',
    bytes: () => filled(jpegStart.subarray(0, 2), hex('ffe10002')),
    refusal: tooMany,
  },
  {
    name: 'scans of escaped bytes, as many as possible',
    type: 'image/jpeg',
    bytes: manyScans,
  },
  {
    name: 'fill bytes',
    type: 'image/jpeg',
    bytes: () => filled(jpegStart, hex('ff'), Buffer.concat([scanStart, hex('ffd9')])),
  },
  { name: 'a trailer of many blocks', type: 'image/jpeg', bytes: manyBlocks, refusal: tooMany },
  {
    name: 'a scan of "ftyp"',
    type: 'image/jpeg',
    bytes: () => filled(jpegScan, latin1('ftyp')),
    refusal: tooMany,
  },
  {
    name: 'chunks without content, kept and removed in turn',
    type: 'image/png',
    bytes: () => filled(pngHeader, hex('000000004944415435af061e000000007445587400000000')),
    refusal: tooMany,
  },
  {
    name: 'empty comments',
    type: 'image/gif',
    bytes: () => filled(gifHeader, hex('21fe00'), hex('3b')),
    refusal: tooMany,
  },
  {
    name: 'an image whose data comes a byte at a time',
    type: 'image/gif',
    bytes: () =>
      filled(Buffer.concat([gifHeader, hex('2c00000000100010000002')]), hex('0100'), hex('003b')),
  },
  { name: 'a directory that refers to itself', type: 'image/tiff', bytes: endlessDirectory },
  {
    name: 'directories that share a table',
    type: 'image/tiff',
    bytes: () => tiff(45, [...tiffSize, [273, 3, 100_000, 10_000], [279, 3, 100_000, 10_000]]),
    refusal: tooMany,
  },
  {
    name: 'directories within each other',
    type: 'image/tiff',
    bytes: overlappingDirectories,
    refusal: tooMany,
  },
  {
    name: 'strips that share a JPEG',
    type: 'image/tiff',
    bytes: () => jpegStrips(2, true),
    refusal: tooOften,
  },
  {
    name: 'strips that are JPEGs of escaped bytes, as many as possible',
    type: 'image/tiff',
    bytes: () => jpegStrips(3_300, false),
  },
  {
    name: 'boxes without content',
    type: 'image/heic',
    bytes: () => filled(fileType, box('free')),
    refusal: tooMany,
  },
  {
    name: 'a thousand items with the same JPEG',
    type: 'image/heic',
    // Anywhere in the data, it begins like a JPEG.
    bytes: () =>
      heic({ kind: 'jpeg', locations: 1_000, from: 20_000, data: Buffer.alloc(mebibyte, 0xd8) }),
    refusal: tooOften,
  },
  {
    name: 'Exif that refers to the whole file a thousand times',
    type: 'image/heic',
    bytes() {
      const metadata = Array.from({ length: 1_000 }, (): Extent => [20_000, bytesMax])
      return heic({ kind: 'hvc1', metadata, data: Buffer.alloc(bytesMax - 20_000, 1) })
    },
    refusal: tooOften,
  },
  {
    name: 'profiles with a thousand tags',
    type: 'image/heic',
    bytes: manyProfiles,
    refusal: tooMany,
  },
]
