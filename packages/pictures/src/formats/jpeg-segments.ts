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
  /** The position of the marker. */
  from: number
  /** The end of the segment; for the start of a scan, the end of its data. */
  to: number
}

/**
 * Whether the marker begins a frame: SOF0 to SOF15, except DHT, JPG and DAC, which lie between
 * them.
 */
export function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** Whether the marker has no length and no data. */
const isAlone = (marker: number) =>
  isRestart(marker) ||
  marker === 0x01 ||
  marker === markers.startOfImage ||
  marker === markers.endOfImage

/**
 * Yields the segments after the start of an image. Ends after the end marker, or before a segment
 * that is not complete. Like decoders, it skips bytes between two segments.
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
    // No end marker follows: the file was cut off, or a phone appended something instead.
    if (to === end && marker === markers.startOfScan) {
      to = startOfTrailer(bytes, { from: at, end, parts })
    }
    yield { marker, from: at, to }
    at = to
  }
}

/** The position of the next marker. Skips fill bytes, and bytes that are not a marker. */
function nextMarker(bytes: Buffer, from: number, end: number): number {
  return findMarker(bytes, { from, to: end - 1, seconds: secondOfAny })
}

/**
 * The minimum average distance between two native searches, in bytes. The loop of `findMarker`
 * reads the bytes between them. Without this minimum a hostile file would need a native search
 * every few bytes.
 */
const bytesPerSearch = 128

/**
 * Returns the position at which the data of a scan ends: the next marker that may follow a scan.
 * Reserved markers result only from damage, so they count as data.
 */
function endOfScan(bytes: Buffer, from: number, end: number): number {
  // The search must stop at `end`, because a file may contain many JPEGs.
  const upToEnd = bytes.subarray(0, end)
  const last = end - 1
  let at = from
  // A native search is several times as fast as the loop, unless 0xff is frequent.
  for (let searches = 0; at < last; searches++) {
    const to = Math.min(from + searches * bytesPerSearch, last)
    at = findMarker(bytes, { from: at, to, seconds: secondAfterScan })
    if (at < to) return at
    at = upToEnd.indexOf(0xff, at)
    if (at === -1 || at >= last) return end
    if (secondAfterScan[bytes[at + 1] as number] === 1) return at
    at++
  }
  return end
}

/** For each byte, 1 if it can be the second byte of a marker. */
const secondOfAny = Uint8Array.from({ length: 256 }, (_, byte) => +(byte > 0 && byte < 0xff))
/** For each byte, 1 if it can be the second byte of a marker that ends a scan. */
const secondAfterScan = secondOfAny.map(
  (is, byte) => +(is === 1 && byte >= 0xc0 && !isRestart(byte)),
)

/**
 * Returns the position of the next marker whose second byte is in `seconds`; `to` if there is none
 * before `to`. In the loop, only the branch that returns depends on the bytes, because a file could
 * be made so that the processor always predicts the wrong branch.
 */
function findMarker(
  bytes: Buffer,
  { from, to, seconds }: { from: number; to: number; seconds: Uint8Array },
): number {
  let byte = bytes[from] as number
  for (let at = from; at < to; at++) {
    const isFirst = (byte + 1) >> 8
    byte = bytes[at + 1] as number
    if ((isFirst & (seconds[byte] as number)) === 1) return at
  }
  return Math.max(from, to)
}

/** The type of the box with which a film begins. */
const fileType = Buffer.from('ftyp')
/** The maximum size of the box with which a film begins. */
const fileTypeBytesMax = 256
/** How the trailer of Samsung's phones ends, and how the directory in it begins. */
const samsung = { last: Buffer.from('SEFT'), directory: Buffer.from('SEFH') }

/**
 * Returns the position in the data of a scan at which a film or the trailer of a Samsung phone
 * begins; `end` if there is neither. Samsung's panoramas have such a trailer in place of the end
 * marker.
 */
function startOfTrailer(
  bytes: Buffer,
  { from, end, parts }: { from: number; end: number; parts: PartCount },
): number {
  const scan = bytes.subarray(from, end)
  let start = samsungTrailer(scan)
  for (let at = scan.indexOf(fileType); at !== -1; at = scan.indexOf(fileType, at + 1)) {
    parts.add()
    if (at < 4 || scan.readUInt32BE(at - 4) > fileTypeBytesMax) continue
    start = Math.min(start, at - 4)
    break
  }
  return from + start
}

/**
 * Returns the position in a scan at which the trailer of a Samsung phone begins; the length of the
 * scan if there is none. The trailer consists of blocks, a directory, the length of the directory,
 * and `SEFT`. The directory has an entry of twelve bytes for each block. Bytes 4 to 7 of an entry
 * say how far before the directory its block begins; the last four bytes are the length of the
 * block.
 */
function samsungTrailer(scan: Buffer): number {
  const end = scan.length
  if (end < 20 || !scan.subarray(-4).equals(samsung.last)) return end
  const directory = end - 8 - scan.readUInt32LE(end - 8)
  if (directory < 0 || !scan.subarray(directory, directory + 4).equals(samsung.directory)) {
    return end
  }
  let start = directory
  for (let entry = directory + 12; entry + 12 <= end - 8; entry += 12) {
    start = Math.min(start, directory - scan.readUInt32LE(entry + 4))
  }
  return Math.max(0, start)
}
