import { PictureError } from '../picture-error.ts'
import { hasText, Reader } from '../reader.ts'
import { Walk } from '../walk.ts'

const blocks = { extension: 0x21, image: 0x2c, trailer: 0x3b }
const extensions = { graphicControl: 0xf9, application: 0xff }
/** The length of a graphic control extension in bytes. A longer extension could contain a text. */
const graphicControlBytes = 8
const loops = ['NETSCAPE2.0', 'ANIMEXTS1.0']
/** The length of a head, a name, a sub-block with the repetitions, and an empty sub-block. */
const loopBytes = 19

export function walkGif(bytes: Buffer): Walk {
  const walk = new Walk(bytes)
  const { edit, parts } = walk
  const reader = new Reader(bytes, 'little-endian')
  walk.measure(reader.u16(6), reader.u16(8))
  let at = 13 + colorTableBytes(reader.u8(10))
  reader.require(0, at)
  edit.keep(0, at)
  let hasImage = false
  while (at < bytes.length) {
    parts.add()
    const block = bytes.readUInt8(at)
    if (block === blocks.image) {
      if (at + 10 > bytes.length) break
      hasImage = true
      walk.measure(reader.u16(at + 5), reader.u16(at + 7))
      // The byte between the colour table and the data says how the data is packed.
      const data = at + 10 + colorTableBytes(reader.u8(at + 9)) + 1
      const to = endOfSubBlocks(bytes, data)
      edit.keep(at, to)
      at = to
    } else if (block === blocks.extension && at + 2 < bytes.length) {
      const to = endOfSubBlocks(bytes, at + 2)
      if (isGraphicControl(bytes, at, to)) edit.keep(at, to)
      else if (isLoop(bytes, at, to)) {
        edit.keep(at, at + loopBytes)
        // The number of repetitions is in the first sub-block. Further sub-blocks could contain a
        // text, so a zero byte ends the extension before them.
        if (to > at + loopBytes) edit.set(at + loopBytes - 1, Uint8Array.of(0))
      }
      at = to
    } else {
      // Decoders stop at the trailer, and at a byte with which no block begins. What follows is not
      // part of the image.
      if (block !== blocks.trailer) edit.set(at, Uint8Array.of(blocks.trailer))
      edit.keep(at, at + 1)
      break
    }
  }
  if (!hasImage) throw new PictureError('it has no image')
  return walk
}

function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1)
}

const isGraphicControl = (bytes: Buffer, at: number, to: number) =>
  bytes[at + 1] === extensions.graphicControl && to - at === graphicControlBytes

/** Its first sub-block has three bytes: 1, and the number of repetitions in two bytes. */
function isLoop(bytes: Buffer, at: number, to: number): boolean {
  const [size, kind] = [bytes[at + 14], bytes[at + 15]]
  if (bytes[at + 1] !== extensions.application || to - at < loopBytes) return false
  return loops.some((name) => hasText(bytes, at + 3, name)) && size === 3 && kind === 1
}

/** Each sub-block begins with its size, and the last one is empty. */
function endOfSubBlocks(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const size = bytes[at] as number
    at += 1 + size
    if (size === 0) break
  }
  return Math.min(at, bytes.length)
}
