import { type CostlyPicture, bytesMax, hex, tooMany, tooOften } from './bytes.ts'
import { jpegScan, samsungTrailer, scanStart } from './jpeg.ts'

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

export const craftedTiff: readonly CostlyPicture[] = [
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
]
