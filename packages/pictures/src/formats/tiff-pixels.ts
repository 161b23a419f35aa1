import { PictureError } from '../picture-error.ts'
import { hasText } from '../reader.ts'
import { zeroJpegMetadata } from './jpeg.ts'
import { tags } from './tiff-tags.ts'
import type { Entry, TiffWalk } from './tiff-walk.ts'

/** The compression methods in which each strip is a JPEG, and those in which it is JPEG XL. */
const jpeg = new Set([7, 34892])
const jpegXl = new Set([50002, 52546])
/**
 * Also none, CCITT, LZW, Deflate, PackBits, LZMA and Zstandard. With any other method, each strip
 * may be a file of another format, with metadata. Phones and cameras use none.
 */
const known = new Set([1, 2, 3, 4, 5, 8, 32773, 32946, 34925, 50000, ...jpeg, ...jpegXl])

export function keepPixels(walk: TiffWalk, entries: ReadonlyMap<number, Entry>): void {
  const numbers = (tag: number) => {
    const entry = entries.get(tag)
    return entry === undefined ? [] : walk.numbersOf(entry)
  }
  walk.measure(numbers(tags.width)[0] ?? 0, numbers(tags.height)[0] ?? 0)
  const compressions = numbers(tags.compression)
  if (!compressions.every((one) => known.has(one))) {
    throw new PictureError('its compression is not known')
  }
  const isJpeg = compressions.some((one) => jpeg.has(one))
  const isJpegXl = compressions.some((one) => jpegXl.has(one))
  for (const [offsetTag, bytesTag] of [
    [tags.stripOffsets, tags.stripBytes],
    [tags.tileOffsets, tags.tileBytes],
  ] as const) {
    const offsets = numbers(offsetTag)
    const sizes = numbers(bytesTag)
    if (sizes.length < offsets.length) throw new PictureError('a part of it has no size')
    offsets.forEach((at, n) => {
      const size = sizes[n] ?? 0
      walk.ranges.add(at, at + size)
      // Either only pixels, or a file with metadata.
      if (isJpegXl && hasText(walk.bytes, at + 4, 'JXL ')) {
        throw new PictureError('it contains another picture')
      }
      if (isJpeg) removeFromJpeg(walk, at, size)
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
