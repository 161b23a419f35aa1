import { PictureError } from '../picture-error.ts'
import { hasText } from '../reader.ts'
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
 * Yields the segments after the start of an image. Ends at the end of the image, at a trailer, or
 * at a segment that is not complete. Like decoders, it skips bytes between two segments. Each
 * segment begins where the one before ended or later, so that each byte is read at most once, and
 * once more to find the trailer. If no end of the image precedes a trailer, the trailer's first two
 * bytes are yielded as the end of the image: the caller must write it there.
 */
export function* jpegSegments(
  bytes: Buffer,
  { start, end: rangeEnd, parts }: { start: number; end: number; parts: PartCount },
): Generator<Segment> {
  let at = start + 2
  let end = rangeEnd
  let hasScan = false
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
    if (marker === markers.startOfScan) {
      if (!hasScan) end = startOfTrailer(bytes, { from: to, end, parts })
      hasScan = true
      to = endOfScan(bytes, to, end)
    }
    yield { marker, from: at, to }
    if (to === end && end < rangeEnd - 2) {
      yield { marker: markers.endOfImage, from: end, to: end + 2 }
      return
    }
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

/** The letters in the box with which a film begins. */
const fileType = Buffer.from('ftyp')
/** How the trailer of Samsung's phones ends, and how the directory in it begins. */
const samsung = { last: 'SEFT', directory: 'SEFH' }

/**
 * Returns the position at which a film or the trailer of a Samsung phone begins; `end` if there is
 * neither. Samsung's panoramas have such a trailer and no end of the image, and a film may contain
 * bytes that look like markers. So the trailer is not part of the segments.
 *
 * @param from the position after the header of the first scan. The trailer cannot begin before it
 */
function startOfTrailer(
  bytes: Buffer,
  { from, end, parts }: { from: number; end: number; parts: PartCount },
): number {
  if (bytes[end - 2] === 0xff && bytes[end - 1] === markers.endOfImage) return end
  const start = samsungTrailer(bytes, { from, end, parts })
  return start === end ? startOfFilm(bytes, from, end) : start
}

/**
 * Returns the position at which the trailer of a Samsung phone begins; `end` if there is none. The
 * trailer consists of blocks, a directory, the length of the directory, and `SEFT`. The directory
 * has an entry of twelve bytes for each block. Bytes 4 to 7 of an entry say how far before the
 * directory its block begins. The block begins with the first four bytes of its entry.
 */
function samsungTrailer(
  bytes: Buffer,
  { from, end, parts }: { from: number; end: number; parts: PartCount },
): number {
  if (end - from < 20 || !hasText(bytes, end - 4, samsung.last)) return end
  const directory = end - 8 - bytes.readUInt32LE(end - 8)
  if (directory < from || !hasText(bytes, directory, samsung.directory)) return end
  let start = directory
  for (let entry = directory + 12; entry + 12 <= end - 8; entry += 12) {
    parts.add()
    const block = directory - bytes.readUInt32LE(entry + 4)
    if (block < from || bytes.readUInt32LE(block) !== bytes.readUInt32LE(entry)) continue
    start = Math.min(start, block)
  }
  return start
}

/** For each byte, its position in `fileType`; 0 for other bytes. */
const letterAt = Uint8Array.from({ length: 256 }, (_, byte) => Math.max(0, fileType.indexOf(byte)))

/**
 * Returns the position of the first box of less than 256 bytes with the type of a film's first box;
 * `end` if there is none.
 */
function startOfFilm(bytes: Buffer, from: number, end: number): number {
  const first = isFrequent(bytes, from, end)
    ? from
    : bytes.subarray(0, end).indexOf(fileType, from + 4) - 4
  if (first < from) return end
  const [t, y, p] = [0x74, 0x79, 0x70]
  // Reads every fourth byte, which is one of the letters if they are there.
  for (let at = first + 7; at + 3 < end; at += 4) {
    const type = at - (letterAt[bytes[at] as number] as number)
    const size =
      (bytes[type - 4] as number) | (bytes[type - 3] as number) | (bytes[type - 2] as number)
    const rest = ((bytes[type + 1] as number) ^ t) | ((bytes[type + 2] as number) ^ y)
    if ((size | rest) === 0 && bytes[type] === fileType[0] && bytes[type + 3] === p) return type - 4
  }
  return end
}

const samples = 1_024

/**
 * Whether the first letter of a film is so frequent that a native search for it would take longer
 * than reading byte by byte: up to 80 ms for 10 MB. The samples are random, so that no file can be
 * made to avoid them. The result changes only the time.
 */
function isFrequent(bytes: Buffer, from: number, end: number): boolean {
  let count = 0
  for (let n = 0; n < samples; n++) {
    const at = from + Math.floor(Math.random() * (end - from))
    count += +(bytes[at] === fileType[0])
  }
  return count > samples / 16
}
