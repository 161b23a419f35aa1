import { scrubProfile } from '../color-profile.ts'
import { orientationOnly, readOrientation } from '../orientation.ts'
import { PictureError } from '../picture-error.ts'
import { hasText } from '../reader.ts'
import { Walk } from '../walk.ts'
import { isFrame, markers } from './jpeg-markers.ts'
import { jpegSegments, type JpegRange, type Segment } from './jpeg-segments.ts'

const exif = 'Exif\0\0'
const icc = 'ICC_PROFILE\0'
/** An APP0 segment without its preview: the marker, the length, `JFIF` and its fields. */
const jfifBytes = 18
/** The size of an APP14 segment: the marker, the length, `Adobe` and its fields. */
const adobeBytes = 16

/**
 * Keeps the tables, frames and scans, JFIF without its preview, the first Exif reduced to its
 * orientation, ICC profiles and Adobe's colour transform. Everything else is removed, including
 * what follows the image: other images (MPF) and the films of motion photos.
 */
export function walkJpeg(bytes: Buffer): Walk {
  const walk = new Walk(bytes)
  const { edit } = walk
  let hasScan = false
  let hasExif = false
  const profile: Segment[] = []
  edit.keep(0, 2)
  for (const segment of jpegSegments(walk, { start: 0, end: bytes.length, isFile: true })) {
    const { marker, from, to } = segment
    if (marker === markers.startOfImage) break
    if (marker === markers.app1 && !hasExif && hasText(bytes, from + 4, exif)) {
      hasExif = true
      keepOrientation(walk, segment)
    } else if (isFrame(marker)) {
      if (to - from < 9) throw new PictureError('a frame of it is too short')
      walk.measure(bytes.readUInt16BE(from + 7), bytes.readUInt16BE(from + 5))
      edit.keep(from, to)
    } else if (isProfile(bytes, segment)) {
      profile.push(segment)
      edit.keep(from, to)
    } else if (draws(segment)) {
      hasScan ||= marker === markers.startOfScan
      edit.keep(from, to)
      if (marker === markers.endOfImage) writeEnd(walk, from)
    } else keepApplication(walk, segment)
  }
  if (!hasScan) throw new PictureError('it has no scan')
  scrubSegments(walk, profile)
  return walk
}

/** Zeroes what `walkJpeg` removes, in a JPEG within another file; empty segments remain. */
export function zeroJpegMetadata(walk: Walk, range: JpegRange): void {
  const { bytes, edit } = walk
  const { start, end } = range
  if (bytes[start + 1] !== markers.startOfImage) {
    throw new PictureError('a JPEG in it begins like none')
  }
  const profile: Segment[] = []
  let last = start + 2
  for (const segment of jpegSegments(walk, range)) {
    const { from, to } = segment
    fill(walk, last, from)
    last = to
    if (draws(segment)) continue
    if (isProfile(bytes, segment)) profile.push(segment)
    else edit.zero(from + (isAdobe(bytes, segment) ? adobeBytes : 4), to)
  }
  scrubSegments(walk, profile)
  edit.zero(last, end)
}

/** Replaces bytes between two segments with fill bytes, which may precede any marker. */
function fill({ bytes, edit }: Walk, from: number, to: number): void {
  if (from >= to) return
  const filling = Buffer.alloc(to - from, 0xff)
  if (!filling.equals(bytes.subarray(from, to))) edit.set(from, filling)
}

/** JPG is reserved; DHP and EXP belong to hierarchical images, which no decoder reads. */
const unused: ReadonlySet<number> = new Set([0xc8, 0xde, 0xdf])
/** The markers DNL and DRI. Their segments consist of the marker, the length and one number. */
const numbers: ReadonlySet<number> = new Set([0xdc, 0xdd])
const numberBytes = 6

/**
 * Whether the segment is a frame, a table, a scan or a restart, or ends the image. Markers below
 * 0xc0 are reserved; those from APP0 on begin segments of applications.
 */
function draws({ marker, from, to }: Segment): boolean {
  if (marker < 0xc0 || marker >= markers.app0 || unused.has(marker)) return false
  return !numbers.has(marker) || to - from === numberBytes
}

/** Replaces the content of an Exif segment by its orientation alone. */
function keepOrientation({ bytes, edit }: Walk, { from, to }: Segment): void {
  const tiff = from + 4 + exif.length
  const orientation = readOrientation(bytes, tiff, to)
  if (orientation === undefined) return
  const block = orientationOnly(orientation, to - tiff)
  const end = tiff + block.length
  edit.keep(from, end)
  if (end === to && bytes.subarray(tiff, to).equals(block)) return
  edit.set(from + 2, lengthOf(end - from))
  edit.set(tiff, block)
}

/** Keeps Adobe's or JFIF's fields. This counts as two parts, because cutting takes longer. */
function keepApplication({ bytes, edit, parts }: Walk, segment: Segment): void {
  const { marker, from, to } = segment
  if (isAdobe(bytes, segment)) {
    parts.add()
    edit.keep(from, from + adobeBytes)
    if (to - from > adobeBytes) edit.set(from + 2, adobeLength)
    return
  }
  const isJfif = marker === markers.app0 && hasText(bytes, from + 4, 'JFIF\0')
  if (!isJfif || to - from < jfifBytes) return
  parts.add()
  edit.keep(from, from + jfifBytes)
  if (to - from === jfifBytes) return
  edit.set(from + 2, jfifLength)
  // Zeroes the width and height of the preview, which is removed.
  edit.zero(from + jfifBytes - 2, from + jfifBytes)
}

const isAdobe = (bytes: Buffer, { marker, from, to }: Segment) =>
  marker === markers.app14 && hasText(bytes, from + 4, 'Adobe') && to - from >= adobeBytes

const isProfile = (bytes: Buffer, { marker, from }: Segment) =>
  marker === markers.app2 && hasText(bytes, from + 4, icc)

/** Decoders ignore segments that do not form one whole profile, so these are zeroed. */
function scrubSegments(walk: Walk, segments: readonly Segment[]): void {
  const { bytes } = walk
  if (segments.length === 0) return
  // After the name come two bytes: the number of this piece, from 1, and how many pieces there are.
  const numberAt = 4 + icc.length
  const isComplete = segments.every(({ from, to }) => to - from >= numberAt + 2)
  const numberOf = ({ from }: Segment) => bytes[from + numberAt]
  const ordered = isComplete
    ? segments.toSorted((one, other) => (numberOf(one) ?? 0) - (numberOf(other) ?? 0))
    : []
  const [first, ...others] = ordered.map(({ from, to }) => ({ from: from + numberAt + 2, to }))
  const isWhole = ordered.every(
    (segment, n) =>
      numberOf(segment) === n + 1 && bytes[segment.from + numberAt + 1] === ordered.length,
  )
  if (first !== undefined && isWhole) scrubProfile(walk, [first, ...others])
  else for (const { from, to } of segments) walk.edit.zero(from + numberAt, to)
}

const endOfImage = Buffer.from([0xff, markers.endOfImage])

/** Browsers refuse a picture without this marker. */
function writeEnd({ bytes, edit }: Walk, at: number): void {
  if (!bytes.subarray(at, at + 2).equals(endOfImage)) edit.set(at, endOfImage)
}

/** The length field of a segment. The length includes this field, but not the marker. */
function lengthOf(segmentBytes: number): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(segmentBytes - 2)
  return length
}

const jfifLength = lengthOf(jfifBytes)
const adobeLength = lengthOf(adobeBytes)
