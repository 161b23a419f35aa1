import { PictureError } from '../picture-error.ts'
import type { PartCount } from '../walked.ts'

export const markers = {
  startOfImage: 0xd8,
  endOfImage: 0xd9,
  startOfScan: 0xda,
  app0: 0xe0,
  app1: 0xe1,
  app2: 0xe2,
  app14: 0xee,
  app15: 0xef,
} as const

export interface Segment {
  marker: number
  /** Where the marker begins. */
  from: number
  /** Where the segment ends; for the start of a scan, where its data ends. */
  to: number
}

/** SOF0 to SOF15, without DHT, JPG and DAC, which lie between them. */
export function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** A marker without a length. */
const isAlone = (marker: number) =>
  isRestart(marker) ||
  marker === 0x01 ||
  marker === markers.startOfImage ||
  marker === markers.endOfImage

/**
 * The segments after the start of an image, up to its end, or to a segment that is not complete.
 * Bytes between two segments belong to none, as for decoders.
 */
export function* jpegSegments(
  bytes: Buffer,
  { start, end, parts }: { start: number; end: number; parts: PartCount },
): Generator<Segment> {
  let at = start + 2
  for (;;) {
    parts.add()
    at = nextMarker(bytes, at, end)
    if (at + 2 > end) return
    const marker = bytes.readUInt8(at + 1)
    if (isAlone(marker)) {
      yield { marker, from: at, to: at + 2 }
      if (marker === markers.endOfImage) return
      at += 2
      continue
    }
    if (at + 4 > end) return
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) throw new PictureError('a segment of it has no valid length')
    let to = at + 2 + length
    if (to > end) return
    if (marker === markers.startOfScan) to = endOfScan(bytes, to, end)
    yield { marker, from: at, to }
    at = to
  }
}

/** Where the next marker begins, after bytes that are none and fill bytes. */
function nextMarker(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at + 1 < end) {
    const second = bytes[at + 1] as number
    // No marker begins or ends with a zero, so none is here or at the next byte.
    if (second === 0) at += 2
    else if (bytes[at] === 0xff && second !== 0xff) break
    else at++
  }
  return at
}

/**
 * Where the data of a scan ends: at the next marker that may follow one. A marker that the standard
 * reserves can only be a damage, and remains a part of the data.
 *
 * It reads byte by byte: a native search is called for each 0xff, and a file may consist of these.
 */
function endOfScan(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at + 1 < end) {
    const second = bytes[at + 1] as number
    // Neither the second byte of such a marker nor its first, so none is here or at the next byte.
    if (second < 0xc0) at += 2
    else if (bytes[at] !== 0xff || second === 0xff) at++
    else if (isRestart(second)) at += 2
    else return at
  }
  return end
}
