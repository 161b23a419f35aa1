import { crc32, deflateSync } from 'node:zlib'
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
/** The number of parts in some of the pictures, a little below the gateway's limit. */
const manyParts = 19_900
const tooMany = 'it has too many parts'
const tooOften = 'it refers to the same bytes too often'

const hex = (text: string) => Buffer.from(text, 'hex')
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const times = (unit: Buffer, count: number) => Buffer.alloc(unit.length * count, unit)

function numbers(size: 2 | 4, values: number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length)
  values.forEach((value, n) => bytes.writeUIntBE(value, n * size, size))
  return bytes
}
const u16 = (...values: number[]) => numbers(2, values)
const u32 = (...values: number[]) => numbers(4, values)

/** Repeats `unit` between `head` and `tail`, as often as fits into `bytesMax`. */
function filled(head: Buffer, unit: Buffer, tail: Buffer = Buffer.alloc(0)): Buffer {
  const count = Math.floor((bytesMax - head.length - tail.length) / unit.length)
  return Buffer.concat([head, times(unit, count), tail])
}

const jpegStart = hex('ffd8ffc0000b080010001001011100')
const scanStart = hex('ffda0008010100003f00')
const jpegScan = Buffer.concat([jpegStart, scanStart])
const jpegEnd = hex('ffd9')

function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), u16(content.length + 2), content])
}

/** A JFIF segment with a preview, which the gateway removes. */
const preview = segment(0xe0, Buffer.concat([latin1('JFIF\0'), Buffer.alloc(12)]))

const pngHeader = hex('89504e470d0a1a0a0000000d494844520000001000000010080200000090916836')

function pngChunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([latin1(type), content])
  return Buffer.concat([u32(content.length), named, u32(crc32(named))])
}
const pngEnd = Buffer.concat([pngChunk('IDAT', Buffer.alloc(1)), pngChunk('IEND', Buffer.alloc(0))])

/**
 * A JPEG without an end marker, followed by the trailer of a Samsung phone. The trailer is a
 * directory of blocks: each entry says how many bytes before the directory its block begins.
 *
 * @param unit is repeated in the scan
 */
function samsungTrailer(unit: Buffer, entries: Buffer): Buffer {
  const directory = Buffer.concat([latin1('SEFH'), Buffer.alloc(8), entries])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(directory.length)
  return filled(jpegScan, unit, Buffer.concat([directory, length, latin1('SEFT')]))
}

/**
 * The header of a JPEG scan, filled with as many beginnings of films as fit. Each is followed by
 * the beginning of another scan.
 */
function filmsInScanHeader(): Buffer {
  const count = 4_500
  const header = Buffer.concat([hex('ffda'), u16(2 + 14 * count), Buffer.alloc(14 * count)])
  for (let at = 4; at < header.length; at += 14) {
    Buffer.concat([u32(16), latin1('ftyp'), hex('ffda'), u16(header.length - at - 10)]).copy(
      header,
      at,
    )
  }
  return header
}

const gifHeader = hex('47494638396110001000000000')
const gifImage = hex('2c00000000100010000002')

function webp(fill: Buffer, unit: Buffer): Buffer {
  const chunks = filled(latin1('RIFF....WEBP'), unit, fill)
  chunks.writeUInt32LE(chunks.length - 8, 4)
  return chunks
}

function webpChunk(type: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  return Buffer.concat([latin1(type), size, content])
}

/**
 * A color profile whose tags have one byte each. The gateway keeps these tags. The bytes in the
 * gaps between them are not zero, so the gateway has to zero them.
 */
function profileOfTags(tags: number): Buffer {
  const tableEnd = 132 + tags * 12
  const profile = Buffer.alloc(tableEnd + 2 * tags + 1, 1)
  profile.write('acsp', 36, 'latin1')
  profile.writeUInt32BE(tags, 128)
  for (let tag = 0; tag < tags; tag++) {
    profile.write('desc', 132 + tag * 12, 'latin1')
    // The first tag has the last position, so that the positions have to be sorted.
    profile.writeUInt32BE(tableEnd + 2 * (tags - tag), 136 + tag * 12)
    profile.writeUInt32BE(1, 140 + tag * 12)
  }
  return profile
}

/** A color profile, split into 255 JPEG segments. A profile cannot have more. */
function profilePieces(tags: number): Buffer[] {
  const profile = profileOfTags(tags)
  const count = 255
  const pieceBytes = Math.ceil(profile.length / count)
  return Array.from({ length: count }, (_, n) => {
    const head = Buffer.concat([latin1('ICC_PROFILE\0'), Buffer.from([n + 1, count])])
    const piece = profile.subarray(n * pieceBytes, (n + 1) * pieceBytes)
    return segment(0xe2, Buffer.concat([head, piece]))
  })
}

/**
 * A color profile with one tag, which the gateway keeps. The bytes before the tag are not all zero.
 */
function profileOf(content: Buffer): Buffer {
  const profile = Buffer.alloc(160 + content.length)
  profile.write('acsp', 36, 'latin1')
  profile.writeUInt32BE(1, 128)
  profile.write('desc', 132, 'latin1')
  profile.writeUInt32BE(160, 136)
  profile.writeUInt32BE(content.length, 140)
  profile[150] = 1
  content.copy(profile, 160)
  return profile
}

/**
 * Bytes of 0 and 1 in random order. Compressing them is slow: the search for repetitions finds many
 * of about the same length.
 */
function bits(bytes: number): Buffer {
  const content = Buffer.alloc(bytes)
  let state = 1
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    content[at] = state >>> 31
  }
  return content
}

/** Eight empty compressed blocks, each with its own tables of codes. */
const emptyBlocks = hex(
  '04c081000000000090ff6b100007020000000040feaf41001c080000000000f9bf06' +
    '0170200000000000e4ff1a04c081000000000090ff6b100007020000000040feaf41' +
    '001c080000000000f9bf060170200000000000e4ff1a',
)

/** A compressed profile that is filled up to about `bytes` bytes with empty blocks. */
function paddedProfile(bytes: number): Buffer {
  const compressed = deflateSync(profileOf(Buffer.alloc(1_000)))
  const count = Math.floor((bytes - compressed.length) / emptyBlocks.length)
  return Buffer.concat([
    compressed.subarray(0, 2),
    times(emptyBlocks, count),
    compressed.subarray(2),
  ])
}

const pngProfile = (compressed: Buffer) =>
  Buffer.concat([pngHeader, pngChunk('iCCP', Buffer.concat([latin1('x\0\0'), compressed])), pngEnd])

/** Exif with as many entries as the gateway reads. None of them is the orientation. */
const longExif = Buffer.concat([latin1('MM\0*'), u32(8), u16(1_000), Buffer.alloc(12_000)])

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

/** A TIFF with two strips. Both refer to the same JPEG, which is the rest of the file. */
function sharedStrips(): Buffer {
  const [offsets, sizes, from] = [1_000, 1_008, 2_000]
  const bytes = tiff(1, [...tiffSize, jpegInTiff, [273, 4, 2, offsets], [279, 4, 2, sizes]])
  for (const n of [0, 4]) {
    bytes.writeUInt32LE(from, offsets + n)
    bytes.writeUInt32LE(bytesMax - from, sizes + n)
  }
  bytes.fill(0xff, from)
  jpegScan.copy(bytes, from)
  return bytes
}

/** A TIFF with as many strips as possible, each a JPEG of escaped bytes. */
function jpegStrips(): Buffer {
  const count = 3_300
  const [offsets, sizes, from] = [1_000, 1_000 + 4 * count, 1_000 + 8 * count]
  const bytes = tiff(1, [...tiffSize, jpegInTiff, [273, 4, count, offsets], [279, 4, count, sizes]])
  bytes.fill(hex('ff00'), from)
  const size = Math.floor((bytesMax - from) / count / 2) * 2
  for (let n = 0; n < count; n++) {
    bytes.writeUInt32LE(from + n * size, offsets + 4 * n)
    bytes.writeUInt32LE(size, sizes + 4 * n)
    jpegScan.copy(bytes, from + n * size)
  }
  return bytes
}

/**
 * A TIFF with as many strips as possible. All strips are the same bytes: the first 2,000 of the
 * file, which contain the beginning of a scan.
 */
function stripsAtStart(): Buffer {
  const count = 4_970
  const [offsets, sizes] = [1_000, 1_000 + 4 * count]
  const strips: TiffEntry[] = [
    [273, 4, count, offsets],
    [279, 4, count, sizes],
  ]
  const bytes = tiff(1, [...tiffSize, jpegInTiff, ...strips])
  for (let n = 0; n < count; n++) bytes.writeUInt32LE(2_000, sizes + 4 * n)
  scanStart.copy(bytes, 500)
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
 * A HEIC with one image. The file lists the location of the image's data `locations` times. Each
 * location is the rest of the file.
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

/** Files of the maximum size that have as many parts, or need as many steps, as possible. */
export const picturesOfManyParts: readonly CostlyPicture[] = [
  {
    name: 'segments of four bytes',
    type: 'image/jpeg',
    bytes: () => filled(jpegStart.subarray(0, 2), hex('ffe10002')),
    refusal: tooMany,
  },
  {
    name: 'a scan of escaped bytes',
    type: 'image/jpeg',
    bytes: () => filled(jpegScan, hex('ff00'), jpegEnd),
  },
  {
    name: 'a scan of restarts',
    type: 'image/jpeg',
    bytes: () => filled(jpegScan, hex('ffd0'), jpegEnd),
  },
  {
    name: 'fill bytes',
    type: 'image/jpeg',
    bytes: () => filled(jpegStart, hex('ff'), Buffer.concat([scanStart, jpegEnd])),
  },
  {
    name: 'scans of escaped bytes, as many as possible',
    type: 'image/jpeg',
    bytes() {
      const escaped = Math.floor((bytesMax - 100) / manyParts - scanStart.length)
      const scan = Buffer.concat([scanStart, Buffer.alloc(escaped & ~1, hex('ff00'))])
      return Buffer.concat([jpegStart, times(scan, manyParts), jpegEnd])
    },
  },
  {
    name: 'previews in JFIF, as many as possible',
    type: 'image/jpeg',
    bytes() {
      return Buffer.concat([jpegStart, times(preview, manyParts / 2), scanStart, jpegEnd])
    },
  },
  {
    name: 'chunks without content, kept and removed in turn',
    type: 'image/png',
    bytes: () => filled(pngHeader, hex('000000004944415435af061e000000007445587400000000')),
    refusal: tooMany,
  },
  {
    name: 'an image whose data comes a byte at a time',
    type: 'image/gif',
    bytes: () => filled(Buffer.concat([gifHeader, gifImage]), hex('0100'), hex('003b')),
  },
  {
    name: 'empty comments',
    type: 'image/gif',
    bytes: () => filled(gifHeader, hex('21fe00'), hex('3b')),
    refusal: tooMany,
  },
  {
    name: 'boxes without content',
    type: 'image/heic',
    bytes: () => filled(fileType, box('free')),
    refusal: tooMany,
  },
]

/** Files in which a few bytes cause much work. */
export const craftedPictures: readonly CostlyPicture[] = [
  {
    name: 'a trailer that begins before the scan',
    type: 'image/jpeg',
    bytes: () => samsungTrailer(Buffer.alloc(1), hex('00000000ffffff7f00000000')),
  },
  {
    name: 'a trailer that begins in the header of the scan',
    type: 'image/jpeg',
    bytes: () => samsungTrailer(hex('ff00'), hex('000000000000a00000000000')),
  },
  {
    name: 'a trailer of many blocks',
    type: 'image/jpeg',
    bytes: () => samsungTrailer(Buffer.alloc(1), times(hex('000000000c00000000000000'), 800_000)),
    refusal: tooMany,
  },
  {
    name: 'films in the header of a scan',
    type: 'image/jpeg',
    bytes: () => filled(Buffer.concat([jpegStart, filmsInScanHeader()]), hex('ff00')),
  },
  ...['f', 'fty', 'fy..p.tt', 'ftyp'].map((letters) => ({
    name: `a scan of "${letters}"`,
    type: 'image/jpeg',
    bytes: () => filled(jpegScan, latin1(letters)),
    ...(letters === 'ftyp' && { refusal: tooMany }),
  })),
  {
    name: 'a strip whose trailer begins before its scan',
    type: 'image/tiff',
    bytes() {
      const bytes = tiff(1, [
        ...tiffSize,
        jpegInTiff,
        [273, 4, 1, 200],
        [279, 4, 1, bytesMax - 200],
      ])
      samsungTrailer(Buffer.alloc(1), hex('00000000ffffff7f00000000')).copy(bytes, 200, 200)
      jpegScan.copy(bytes, 200)
      return bytes
    },
  },
  { name: 'strips that begin where the file begins', type: 'image/tiff', bytes: stripsAtStart },
  {
    name: 'a directory that refers to itself',
    type: 'image/tiff',
    bytes() {
      const bytes = tiff(1, [...tiffSize, [330, 4, 1, 8]])
      bytes.writeUInt32LE(8, 8 + 2 + 3 * 12)
      return bytes
    },
  },
  {
    name: 'profiles with a thousand tags',
    type: 'image/jpeg',
    bytes() {
      const profile = Buffer.concat([latin1('ICC_PROFILE\0\x01\x01'), profileOfTags(1_000)])
      return filled(jpegStart, segment(0xe2, profile), Buffer.concat([scanStart, jpegEnd]))
    },
  },
  {
    name: 'a profile with many tags in many segments',
    type: 'image/jpeg',
    bytes: () => Buffer.concat([jpegStart, ...profilePieces(19_000), scanStart, jpegEnd]),
  },
  {
    name: 'a profile in many segments, previews, and a scan without end, as many as possible',
    type: 'image/jpeg',
    bytes() {
      const previews = times(preview, (manyParts - 1_500) / 2)
      const head = Buffer.concat([jpegStart, ...profilePieces(1_000), previews, scanStart])
      return filled(head, hex('66ff00'))
    },
  },
  {
    name: 'profiles without tags',
    type: 'image/jpeg',
    bytes() {
      const profile = Buffer.concat([latin1('ICC_PROFILE\0\x01\x01'), profileOfTags(0)])
      return filled(jpegStart, segment(0xe2, profile), Buffer.concat([scanStart, jpegEnd]))
    },
    refusal: tooMany,
  },
  {
    name: 'a compressed profile of 10 MB without content',
    type: 'image/png',
    bytes: () => pngProfile(paddedProfile(bytesMax - 200)),
  },
  {
    name: 'a compressed profile of 100 KB without content',
    type: 'image/png',
    bytes: () => pngProfile(paddedProfile(100_000)),
  },
  {
    name: 'a profile that is hard to compress again',
    type: 'image/png',
    bytes: () => pngProfile(deflateSync(profileOf(bits(500_000)), { level: 9 })),
  },
  {
    name: 'a profile that is hard to compress again, and texts, as many as possible',
    type: 'image/png',
    bytes() {
      const profile = deflateSync(profileOf(bits(500_000)), { level: 9 })
      const text = pngChunk('tEXt', Buffer.from('a'))
      const pixels = pngChunk('IDAT', Buffer.alloc(1_000))
      const head = Buffer.concat([
        pngHeader,
        pngChunk('iCCP', Buffer.concat([latin1('x\0\0'), profile])),
      ])
      return Buffer.concat([head, times(Buffer.concat([pixels, text]), manyParts / 2 - 10), pngEnd])
    },
  },
  {
    name: 'Exif with a thousand entries, many times',
    type: 'image/png',
    bytes: () => filled(pngHeader, pngChunk('eXIf', longExif), pngEnd),
  },
  {
    name: 'Exif with a thousand entries, many times',
    type: 'image/webp',
    bytes: () =>
      webp(webpChunk('VP8L', hex('2f0fc0030000')), webpChunk('EXIF', Buffer.from(longExif))),
  },
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
    bytes: sharedStrips,
    refusal: tooOften,
  },
  {
    name: 'strips that are JPEGs of escaped bytes, as many as possible',
    type: 'image/tiff',
    bytes: jpegStrips,
  },
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
