import { PictureError } from '../picture-error.ts'
import type { Walk } from '../walk.ts'
import { endOfScan, findMarker, isAlone, markers, viewOf } from './jpeg-markers.ts'
import { startOfTrailer } from './jpeg-trailer.ts'

export interface Segment {
  marker: number
  /** The position of the marker. */
  from: number
  /** The end of the segment; for the start of a scan, the end of its data. */
  to: number
}

/** Where a JPEG is in a file. */
export interface JpegRange {
  start: number
  end: number
  /** Whether the JPEG is a file of its own. One within another file has no trailer. */
  isFile?: boolean
}

/**
 * Yields the segments after the start of an image. Ends at the end-of-image marker, at a trailer,
 * or at a segment that is not complete. Like decoders, it skips bytes between two segments. A
 * segment never begins before the end of the previous one, so each byte is read at most twice: once
 * to find the trailer, and once to find the segments. If no end-of-image marker precedes a trailer,
 * a segment for this marker is yielded nevertheless. It covers the first two bytes of the trailer,
 * which the caller must overwrite with the marker.
 */
export function* jpegSegments(
  { bytes: file, parts }: Pick<Walk, 'bytes' | 'parts'>,
  { start, end, isFile = false }: JpegRange,
): Generator<Segment> {
  // Searches must end with this JPEG. A file may contain many JPEGs, and each search could
  // otherwise read the whole file.
  let bytes = file.subarray(0, end)
  let view = viewOf(bytes)
  let at = start + 2
  let hasScan = false
  for (;;) {
    parts.add()
    // Skips fill bytes, and bytes that are not a marker.
    at = findMarker(view, { from: at, end: bytes.length, inScan: false })
    if (at + 2 > bytes.length) return
    const marker = bytes.readUInt8(at + 1)
    if (isAlone(marker)) {
      yield { marker, from: at, to: at + 2 }
      if (marker === markers.endOfImage) return
      at += 2
      continue
    }
    if (at + 4 > bytes.length) return
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) throw new PictureError('a segment of it has no valid length')
    let to = at + 2 + length
    if (to > bytes.length) return
    if (marker === markers.startOfScan) {
      if (!hasScan && isFile) {
        bytes = file.subarray(0, startOfTrailer(bytes, { from: to, parts }))
        view = viewOf(bytes)
      }
      hasScan = true
      to = endOfScan(bytes, view, to)
    }
    yield { marker, from: at, to }
    if (to === bytes.length && to < end - 2) {
      yield { marker: markers.endOfImage, from: to, to: to + 2 }
      return
    }
    at = to
  }
}
