import { hasText, Reader } from './reader.ts'

const orientationTag = 0x0112
const short = 3
const long = 4
/** The maximum number of entries of a directory that are read. Cameras write about a dozen. */
const entriesMax = 1_000

/**
 * Returns 2 to 8; undefined if the image is upright, or the block cannot be read.
 *
 * @param from the position of the TIFF header
 */
export function readOrientation(bytes: Buffer, from: number, to: number): number | undefined {
  const block = bytes.subarray(from, to)
  const isLittle = hasText(block, 0, 'II*\0')
  if (!isLittle && !hasText(block, 0, 'MM\0*')) return undefined
  if (block.length < 10) return undefined
  const reader = new Reader(block, isLittle ? 'little-endian' : 'big-endian')
  const directory = reader.u32(4)
  if (directory + 2 > block.length) return undefined
  const count = Math.min(reader.u16(directory), entriesMax)
  for (let n = 0; n < count; n++) {
    const entry = directory + 2 + n * 12
    if (entry + 12 > block.length) return undefined
    if (reader.u16(entry) !== orientationTag) continue
    const type = reader.u16(entry + 2)
    const value = type === short ? reader.u16(entry + 8) : type === long ? reader.u32(entry + 8) : 0
    return value >= 2 && value <= 8 ? value : undefined
  }
  return undefined
}

/**
 * Returns an Exif block with nothing but the orientation: a TIFF header and a directory with one
 * entry.
 *
 * @param bytesMax the block is cut to this size. It remains readable without its last four bytes,
 *   which state that no other directory follows
 */
export function orientationOnly(orientation: number, bytesMax: number): Buffer {
  const block = Buffer.alloc(26)
  block.write('MM\0*', 'latin1')
  block.writeUInt32BE(8, 4)
  block.writeUInt16BE(1, 8)
  block.writeUInt16BE(orientationTag, 10)
  block.writeUInt16BE(short, 12)
  block.writeUInt32BE(1, 14)
  block.writeUInt16BE(orientation, 18)
  return block.subarray(0, Math.min(block.length, bytesMax))
}
