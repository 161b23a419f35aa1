import { PictureError } from '../picture-error.ts'
import { hasText } from '../reader.ts'
import { zeroJpegMetadata } from './jpeg.ts'
import { tags } from './tiff-tags.ts'
import type { Entry, TiffWalk } from './tiff-walk.ts'

const olderJpeg = 6
/** The compression methods in which each strip is a JPEG. */
const jpegCompressions = new Set([olderJpeg, 7, 99, 33007, 34892])
/** Each strip is JPEG XL: either only pixels, or a file with metadata. */
const jpegXlCompressions = new Set([50002, 52546])
/**
 * The compression methods in which each strip may be a file of another format, with metadata: JPEG
 * XR, JPEG 2000, WebP, PNG and unregistered uses of JPEG. Phones and cameras do not use them.
 */
const fileCompressions = new Set([
  22610, 33003, 33004, 33005, 34712, 34927, 34933, 34934, 50001, 65000,
])

export function keepPixels(walk: TiffWalk, entries: ReadonlyMap<number, Entry>): void {
  const numbers = (tag: number) => {
    const entry = entries.get(tag)
    return entry === undefined ? [] : walk.numbersOf(entry)
  }
  walk.measure(numbers(tags.width)[0] ?? 0, numbers(tags.height)[0] ?? 0)
  const compressions = numbers(tags.compression)
  const uses = (methods: ReadonlySet<number>) => compressions.some((one) => methods.has(one))
  if (uses(fileCompressions)) throw new PictureError('it contains another picture')
  // Without `jpegOffset`, the older kind of JPEG has its tables elsewhere in the file. These tables
  // are not kept, so the strips could not be decoded.
  if (compressions.includes(olderJpeg) && !entries.has(tags.jpegOffset)) {
    throw new PictureError('the tables of its JPEG are elsewhere')
  }
  const isJpeg = uses(jpegCompressions)
  const isJpegXl = uses(jpegXlCompressions)
  let whole = { from: 0, to: 0 }
  for (const [offsetTag, bytesTag] of [
    [tags.jpegOffset, tags.jpegBytes],
    [tags.stripOffsets, tags.stripBytes],
    [tags.tileOffsets, tags.tileBytes],
  ] as const) {
    const offsets = numbers(offsetTag)
    const sizes = numbers(bytesTag)
    if (sizes.length < offsets.length) throw new PictureError('a part of it has no size')
    offsets.forEach((at, n) => {
      const size = sizes[n] ?? 0
      walk.ranges.add(at, at + size)
      if (isJpegXl && hasText(walk.bytes, at + 4, 'JXL ')) {
        throw new PictureError('it contains another picture')
      }
      if (offsetTag === tags.jpegOffset) whole = { from: at, to: at + size }
      // In the older kind of JPEG the strips are parts of the JPEG at `jpegOffset`, whose metadata
      // has been removed.
      else if (!isJpeg || (at >= whole.from && at + size <= whole.to)) return
      removeFromJpeg(walk, at, size)
    })
  }
}

/** Zeroes the metadata in a JPEG that is a strip, a tile or a table. */
export function removeFromJpeg(walk: TiffWalk, start: number, bytes: number): void {
  const end = Math.min(start + bytes, walk.bytes.length)
  if (start >= end) return
  // The bytes of a JPEG count twice, because they are read one by one. Other data is read faster.
  walk.bytesRead.add(2 * (end - start))
  zeroJpegMetadata(walk, { start, end })
}
