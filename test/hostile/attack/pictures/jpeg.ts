import {
  type CostlyPicture,
  bytesMax,
  filled,
  hex,
  latin1,
  manyParts,
  times,
  tooMany,
  u16,
  u32,
} from './bytes.ts'
import { profileOfTags } from './metadata.ts'

const jpegStart = hex('ffd8ffc0000b080010001001011100')
export const scanStart = hex('ffda0008010100003f00')
export const jpegScan = Buffer.concat([jpegStart, scanStart])
const jpegEnd = hex('ffd9')

function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), u16(content.length + 2), content])
}

/** A JFIF segment with a preview, which the gateway removes. */
const preview = segment(0xe0, Buffer.concat([latin1('JFIF\0'), Buffer.alloc(12)]))

/**
 * A JPEG without an end marker, followed by the trailer of a Samsung phone. The trailer is a
 * directory of blocks: each entry says how many bytes before the directory its block begins.
 *
 * @param unit is repeated in the scan
 */
export function samsungTrailer(unit: Buffer, entries: Buffer): Buffer {
  const directory = Buffer.concat([latin1('SEFH'), Buffer.alloc(8), entries])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(directory.length)
  return filled(jpegScan, unit, Buffer.concat([directory, length, latin1('SEFT')]))
}

/**
 * The header of a JPEG scan that contains 4,500 `ftyp` boxes (the start of a video), almost as many
 * as fit. Each box is followed by the header of another scan.
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

export const jpegOfManyParts: readonly CostlyPicture[] = [
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
]

export const craftedJpeg: readonly CostlyPicture[] = [
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
]
