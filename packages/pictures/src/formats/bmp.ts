import { scrubProfile } from '../color-profile.ts'
import { KeptRanges } from '../kept-ranges.ts'
import { PictureError } from '../picture-error.ts'
import { hasText, Reader } from '../reader.ts'
import { Walk } from '../walk.ts'

const fileHeaderBytes = 14
const coreHeaderBytes = 12
const os2HeaderBytes = 64
const lastHeaderBytes = 124
/** The lengths that a header can have. A header of another length could contain a text. */
const headerSizes = new Set([coreHeaderBytes, 16, 40, 52, 56, os2HeaderBytes, 108, lastHeaderBytes])
const bitsMax = 64
const compressions = { none: 0, masks: 3, jpeg: 4, png: 5, alphaMasks: 6 }

export function walkBmp(bytes: Buffer): Walk {
  const walk = new Walk(bytes)
  const { edit } = walk
  const reader = new Reader(bytes, 'little-endian')
  const ranges = new KeptRanges(bytes.length)
  const header = readHeader(reader)
  // These bytes are reserved. In files of OS/2 they contain the hot spot of a cursor.
  if (reader.u32(6) !== 0) edit.zero(6, 10)
  const { width, height, headerEnd, paletteBytes } = header
  const pixels = reader.u32(10)
  reader.require(0, headerEnd)
  reader.require(headerEnd, pixels + 1)
  ranges.add(0, Math.min(headerEnd + paletteBytes, pixels))
  ranges.add(pixels, pixels + (header.pixelBytes ?? bytes.length))
  if (header.size >= lastHeaderBytes) keepProfile(walk, reader, ranges)
  ranges.keepOnly(edit)
  walk.measure(width, height)
  return walk
}

function readHeader(reader: Reader) {
  const size = reader.u32(fileHeaderBytes)
  if (!headerSizes.has(size)) throw new PictureError('its header has an unknown size')
  const isCore = size === coreHeaderBytes
  const width = isCore ? reader.u16(18) : reader.u32(18)
  // The height is negative if the rows run downwards.
  const height = isCore ? reader.u16(20) : Math.abs(reader.u32(22) | 0)
  const bits = reader.u16(isCore ? 24 : 28)
  if (bits > bitsMax) throw new PictureError('its pixels have too many bits')
  const compression = isCore || size < 40 ? compressions.none : reader.u32(30)
  const { none, masks, alphaMasks, jpeg, png } = compressions
  const isOs2 = size === os2HeaderBytes
  if (!isOs2 && (compression === jpeg || compression === png)) {
    throw new PictureError('it contains another picture')
  }
  const isPlain =
    compression === none || (!isOs2 && (compression === masks || compression === alphaMasks))
  const colors = isCore || size < 40 ? 0 : reader.u32(46)
  const masksBytes =
    size === 40 ? (compression === masks ? 12 : compression === alphaMasks ? 16 : 0) : 0
  return {
    size,
    width,
    height,
    headerEnd: fileHeaderBytes + size + masksBytes,
    paletteBytes: (bits <= 8 ? Math.min(colors || 2 ** bits, 2 ** bits) : 0) * (isCore ? 3 : 4),
    /** Undefined if the pixels extend to the end of the file. */
    pixelBytes: isPlain ? Math.ceil((bits * width) / 32) * 4 * height : reader.u32(34) || undefined,
  }
}

/** Keeps an embedded profile. A linked profile is only the name of a file, so it is not kept. */
function keepProfile(walk: Walk, reader: Reader, ranges: KeptRanges): void {
  if (!hasText(reader.bytes, 70, 'DEBM')) return
  const from = fileHeaderBytes + reader.u32(126)
  const to = from + reader.u32(130)
  reader.require(from, to)
  ranges.add(from, to)
  scrubProfile(walk, [{ from, to }])
}
