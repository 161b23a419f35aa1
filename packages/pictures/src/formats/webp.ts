import { scrubProfile } from '../color-profile.ts'
import { orientationOnly, readOrientation } from '../orientation.ts'
import { PictureError } from '../picture-error.ts'
import { fourLetters, hasText, Reader, setOfFourLetters } from '../reader.ts'
import { Walk } from '../walk.ts'

// The types of chunks, read as big-endian numbers. All other numbers in a WebP are little-endian.
const chunks = {
  extended: fourLetters('VP8X'),
  animation: fourLetters('ANIM'),
  lossy: fourLetters('VP8 '),
  lossless: fourLetters('VP8L'),
  frame: fourLetters('ANMF'),
  profile: fourLetters('ICCP'),
  exif: fourLetters('EXIF'),
}
const pixels = setOfFourLetters('VP8 ,VP8L,ALPH,ANMF')
const kept = setOfFourLetters('VP8X,VP8 ,VP8L,ALPH,ANIM,ANMF,ICCP')
const inFrame = setOfFourLetters('VP8 ,VP8L,ALPH')
/** The content size of chunks with fixed fields. The rest of a longer chunk could hide a text. */
const fixedBytes: ReadonlyMap<number, number> = new Map([
  [chunks.extended, 10],
  [chunks.animation, 6],
])
const flags = { exif: 0x08, xmp: 0x04 }
const frameHeaderBytes = 16

/** Keeps the chunks that are needed to render the image. Of Exif, only the orientation is kept. */
export function walkWebp(bytes: Buffer): Walk {
  const walk = new WebpWalk(bytes)
  walk.run()
  return walk
}

class WebpWalk extends Walk {
  readonly #little = new Reader(this.bytes, 'little-endian')
  #flagsAt: number | undefined
  readonly #found = new Set<number>()
  #hasPixels = false
  #hasOrientation = false

  run(): void {
    const { bytes } = this
    const size = this.#little.u32(4)
    const end = Math.min(8 + size, bytes.length)
    this.edit.keep(0, 12)
    for (let at = 12; at + 8 <= end;) {
      this.parts.add()
      const type = bytes.readUInt32BE(at)
      const contentEnd = at + 8 + this.#little.u32(at + 4)
      this.#hasPixels ||= pixels.has(type)
      if (contentEnd > end) {
        // The file ends within this chunk. Incomplete pixels are kept, other chunks are dropped.
        if (pixels.has(type)) this.#keepChunk(type, at, end, end)
        break
      }
      // The content is padded to an even size.
      const to = Math.min(contentEnd + (contentEnd % 2), end)
      this.#keepChunk(type, at, contentEnd, to)
      at = to
    }
    if (!this.#hasPixels) throw new PictureError('it has no pixels')
    this.#correctFlags()
    if (this.edit.length - 8 !== size) this.edit.set(4, u32(this.edit.length - 8))
  }

  #keepChunk(type: number, at: number, contentEnd: number, to: number): void {
    if (isRepeated(type, this.#found)) return
    if (type === chunks.exif) this.#keepOrientation(at, contentEnd)
    if (!kept.has(type)) return
    if (type === chunks.extended) this.#extended(at)
    else if (type === chunks.frame) this.#frame(at + 8, contentEnd)
    else if (type === chunks.profile) scrubProfile(this, [{ from: at + 8, to: contentEnd }])
    else this.#measure(type, at + 8, contentEnd)
    const bytes = fixedBytes.get(type)
    if (bytes !== undefined && contentEnd - at - 8 > bytes) {
      this.edit.set(at + 4, u32(bytes))
      this.edit.keep(at, at + 8 + bytes)
    } else this.edit.keep(at, to)
  }

  #extended(at: number): void {
    this.#little.require(at, at + 18)
    this.#flagsAt = at + 8
    this.measure(this.#u24(at + 12) + 1, this.#u24(at + 15) + 1)
  }

  /** Measures a frame of an animation, and zeroes the chunks in it that are not needed. */
  #frame(from: number, to: number): void {
    if (to - from < frameHeaderBytes) throw new PictureError('a frame of it is too short')
    this.measure(this.#u24(from + 6) + 1, this.#u24(from + 9) + 1)
    const found = new Set<number>()
    for (let at = from + frameHeaderBytes; at + 8 <= to;) {
      this.parts.add()
      const type = this.bytes.readUInt32BE(at)
      const contentEnd = Math.min(at + 8 + this.#little.u32(at + 4), to)
      if (inFrame.has(type) && !isRepeated(type, found)) this.#measure(type, at + 8, contentEnd)
      else {
        this.edit.zero(at, at + 4)
        this.edit.zero(at + 8, contentEnd)
      }
      at = contentEnd + (contentEnd % 2)
    }
  }

  /** The size in the pixel data may differ from the size of the canvas. */
  #measure(type: number, from: number, to: number): void {
    const little = this.#little
    if (type === chunks.lossy && from + 10 <= to) {
      this.measure(little.u16(from + 6) & 0x3fff, little.u16(from + 8) & 0x3fff)
    } else if (type === chunks.lossless && from + 5 <= to) {
      const size = little.u32(from + 1)
      this.measure((size & 0x3fff) + 1, ((size >>> 14) & 0x3fff) + 1)
    }
  }

  #keepOrientation(at: number, to: number): void {
    // Some writers put `Exif\0\0` before the Exif block, as in a JPEG.
    const tiff = at + 8 + (hasText(this.bytes, at + 8, 'Exif\0\0') ? 6 : 0)
    const orientation = readOrientation(this.bytes, tiff, to)
    if (orientation === undefined) return
    this.#hasOrientation = true
    // The block has an even number of bytes, so that it needs no padding.
    const block = orientationOnly(orientation, (to - at - 8) & ~1)
    this.edit.keep(at, at + 8 + block.length)
    if (this.bytes.subarray(at + 8, to).equals(block)) return
    this.edit.set(at + 4, u32(block.length))
    this.edit.set(at + 8, block)
  }

  #correctFlags(): void {
    if (this.#flagsAt === undefined) return
    const found = this.bytes.readUInt8(this.#flagsAt)
    const right = (found & ~flags.xmp & ~flags.exif) | (this.#hasOrientation ? flags.exif : 0)
    if (right !== found) this.edit.set(this.#flagsAt, Uint8Array.of(right))
  }

  #u24(at: number): number {
    return this.#little.u16(at) + this.#little.u8(at + 2) * 0x1_0000
  }
}

/**
 * Notes a chunk. Decoders ignore a second one of any kind except frames; the two kinds of pixels,
 * lossy and lossless, count as one.
 */
function isRepeated(type: number, found: Set<number>): boolean {
  const kind = type === chunks.lossless ? chunks.lossy : type
  if (kind !== chunks.frame && found.has(kind)) return true
  found.add(kind)
  return false
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
