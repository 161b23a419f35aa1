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
  file: Buffer,
  { start, end, parts }: { start: number; end: number; parts: PartCount },
): Generator<Segment> {
  // No search may pass over the end, because a file may contain many JPEGs.
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
      if (!hasScan) {
        bytes = file.subarray(0, startOfTrailer(bytes, { from: to, end, parts }))
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

const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** The bytes that `findMarker` reads before native searches follow. */
const readBytes = 512
/** Native searches go on as long as each passes over this many bytes. */
const searchedBytes = 64

/**
 * Returns the position at which the data of a scan ends: the next marker that may follow a scan. A
 * native search is several times as fast as `findMarker`, unless 0xff is frequent.
 */
function endOfScan(bytes: Buffer, view: DataView, from: number): number {
  const end = bytes.length
  for (let at = from; ;) {
    const to = Math.min(at + readBytes, end)
    const marker = findMarker(view, { from: at, end: to, inScan: true })
    if (marker < to || to === end) return marker
    let before
    at = to - 1
    do {
      before = at
      at = bytes.indexOf(0xff, at) + 1
      if (at === 0 || at === end) return end
      if (secondAfterScan[bytes[at] as number] === 1) return at - 1
    } while (at - before > searchedBytes)
  }
}

/** For each byte, 1 if it can be the second byte of a marker. */
const secondOfAny = Uint8Array.from({ length: 256 }, (_, byte) => +(byte > 0 && byte < 0xff))
/**
 * For each byte, 1 if it can be the second byte of a marker that ends a scan. Reserved markers
 * result only from damage, so they count as data.
 */
const secondAfterScan = secondOfAny.map(
  (is, byte) => +(is === 1 && byte >= 0xc0 && !isRestart(byte)),
)
/** The highest bit of each of four bytes. */
const highest = 0x80808080 | 0

/**
 * Returns the position of the next marker; `end` if there is none. It reads four bytes at once, and
 * only the branch that ends the loop depends on them, because a file could be made so that the
 * processor always predicts the wrong branch.
 *
 * @param range.inScan passes over the markers that may occur in a scan
 */
export function findMarker(
  bytes: DataView,
  { from, end, inScan }: { from: number; end: number; inScan: boolean },
): number {
  const seconds = inScan ? secondAfterScan : secondOfAny
  const outside = inScan ? 0 : -1
  let at = from
  // In these numbers, the highest bit of a byte is the result for the byte.
  for (let before = 0; at + 4 <= end; at += 4) {
    const four = bytes.getInt32(at, true)
    const atLeastC0 = four & (four << 1)
    const atLeastF0 = atLeastC0 & (atLeastC0 << 2)
    const isFF = atLeastF0 & (atLeastF0 << 4) & highest
    const isRestart = (four << 3) & ~(four << 2) & ~(four << 4)
    const twoBits = four | (four << 1)
    const fourBits = twoBits | (twoBits << 2)
    const isNotZero = fourBits | (fourBits << 4)
    const isSecond = ((atLeastC0 & ~isRestart) | (isNotZero & outside)) & ~isFF
    if ((isSecond & ((isFF << 8) | before)) !== 0) break
    before = isFF >>> 24
  }
  // Searches the bytes in which the loop found a marker, or the last ones.
  for (at = Math.max(from, at - 1); at + 1 < end; at++) {
    if (bytes.getUint8(at) === 0xff && seconds[bytes.getUint8(at + 1)] === 1) return at
  }
  return end
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

/**
 * Returns the position of the first box of a film; `end` if there is none. Its type is not in the
 * data of a scan by chance, so only the first one that is found is examined.
 */
function startOfFilm(bytes: Buffer, from: number, end: number): number {
  if (isFrequent(bytes, from, end)) return end
  const at = bytes.subarray(0, end).indexOf(fileType, from + 4) - 4
  return at >= from && bytes.readUInt32BE(at) < boxBytesMax ? at : end
}

/** The maximum size of the first box of a film. */
const boxBytesMax = 256
const samples = 1_024

/**
 * Whether the first letter of a film is so frequent that a native search for it would take long: up
 * to 80 ms for 10 MB. It is not frequent in the data of a scan. The samples are random, so that no
 * file can be made to avoid them.
 */
function isFrequent(bytes: Buffer, from: number, end: number): boolean {
  let count = 0
  for (let n = 0; n < samples; n++) {
    const at = from + Math.floor(Math.random() * (end - from))
    count += +(bytes[at] === fileType[0])
  }
  return count > samples / 16
}
