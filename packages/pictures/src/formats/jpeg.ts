import { scrubProfile } from '../color-profile.ts'
import { Edit } from '../edit.ts'
import { orientationOnly, readOrientation } from '../orientation.ts'
import { PictureError } from '../picture-error.ts'
import { hasText } from '../reader.ts'
import { Largest, PartCount, type Walked } from '../walked.ts'
import { isFrame, jpegSegments, markers, type Segment } from './jpeg-segments.ts'

const exif = 'Exif\0\0'
const icc = 'ICC_PROFILE\0'
/**
 * The length of an APP0 segment without its preview: the marker, the length, `JFIF` and its fields.
 */
const jfifBytes = 18
/** The length of an APP14 segment: the marker, the length, `Adobe` and its fields. */
const adobeBytes = 16

/**
 * Keeps the tables, frames and scans, JFIF without its preview, the first Exif reduced to its
 * orientation, ICC profiles and Adobe's colour transform. Everything else is removed, including
 * what follows the end: other images (MPF) and motion photos.
 */
export function walkJpeg(bytes: Buffer): Walked {
  const edit = new Edit()
  const largest = new Largest()
  let hasScan = false
  let hasExif = false
  const parts = new PartCount()
  edit.keep(0, 2)
  for (const segment of jpegSegments(bytes, { start: 0, end: bytes.length, parts })) {
    const { marker, from, to } = segment
    if (marker === markers.startOfImage) break
    if (marker === markers.app1 && !hasExif && hasText(bytes, from + 4, exif)) {
      hasExif = true
      keepOrientation(bytes, segment, edit)
    } else if (isFrame(marker)) {
      if (to - from < 9) throw new PictureError('a frame of it is too short')
      largest.add(bytes.readUInt16BE(from + 7), bytes.readUInt16BE(from + 5))
      edit.keep(from, to)
    } else if (isApplication(marker)) {
      keepApplication(bytes, segment, { edit, parts })
    } else if (draws(marker)) {
      hasScan ||= marker === markers.startOfScan
      edit.keep(from, to)
    }
  }
  if (!hasScan) throw new PictureError('it has no scan')
  return { width: largest.width, height: largest.height, edit }
}

/**
 * Zeroes what `walkJpeg` removes, in a JPEG that is a part of another file. The segments remain,
 * with empty contents.
 */
export function zeroJpegMetadata(
  bytes: Buffer,
  range: { start: number; end: number; parts: PartCount },
  edit: Edit,
): void {
  for (const segment of jpegSegments(bytes, range)) {
    const { marker } = segment
    const isProfile = marker === markers.app2 && hasText(bytes, segment.from + 4, icc)
    if (draws(marker) || marker === markers.app14 || isProfile) continue
    edit.zero(segment.from + 4, segment.to)
  }
}

/**
 * Whether the marker begins a frame, a table or a scan, is a restart, or ends the image. Smaller
 * numbers are reserved; larger numbers begin segments of applications.
 */
const draws = (marker: number) => marker >= 0xc0 && marker < markers.app0

const isApplication = (marker: number) => marker >= markers.app0 && marker <= markers.app15

/** Replaces the content of an Exif segment by its orientation alone. */
function keepOrientation(bytes: Buffer, { from, to }: Segment, edit: Edit): void {
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

function keepApplication(
  bytes: Buffer,
  { marker, from, to }: Segment,
  walk: { edit: Edit; parts: PartCount },
): void {
  const { edit } = walk
  const isNamed = (name: string) => hasText(bytes, from + 4, name)
  if (marker === markers.app0 && isNamed('JFIF\0') && to - from >= jfifBytes) {
    edit.keep(from, from + jfifBytes)
    if (to - from === jfifBytes) return
    edit.set(from + 2, jfifLength)
    // Zeroes the width and height of the preview, which is removed.
    edit.zero(from + jfifBytes - 2, from + jfifBytes)
  } else if (marker === markers.app14 && isNamed('Adobe') && to - from >= adobeBytes) {
    edit.keep(from, from + adobeBytes)
    if (to - from > adobeBytes) edit.set(from + 2, adobeLength)
  } else if (marker === markers.app2 && isNamed(icc)) {
    edit.keep(from, to)
    // After the name, one byte is the number of this part of the profile, and one the number of
    // parts.
    const profile = from + 4 + icc.length + 2
    if (bytes[profile - 1] === 1 && profile <= to) scrubProfile(bytes, { from: profile, to }, walk)
  }
}

/** The field with the length of a segment: it counts the field itself but not the marker. */
function lengthOf(segmentBytes: number): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(segmentBytes - 2)
  return length
}

const jfifLength = lengthOf(jfifBytes)
const adobeLength = lengthOf(adobeBytes)
