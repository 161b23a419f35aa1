import { hasText } from '../reader.ts'
import type { PartCount } from '../walk.ts'
import { viewOf } from './jpeg-markers.ts'

/** The type of the box with which a film begins. */
const fileType = Buffer.from('ftyp')
const fileTypeNumber = fileType.readUInt32BE()
/** How the trailer of Samsung's phones ends, and how the directory in it begins. */
const samsung = { last: 'SEFT', directory: 'SEFH' }

/**
 * Returns the position at which the data after the picture begins: a film, or the trailer that
 * Samsung's phones append; the end if there is neither. The search for segments must stop there. A
 * film may contain bytes that look like markers, and Samsung's panoramas have no end-of-image
 * marker before the trailer.
 *
 * @param from the position after the header of the first scan. The trailer cannot begin before it
 */
export function startOfTrailer(
  bytes: Buffer,
  { from, parts }: { from: number; parts: PartCount },
): number {
  const start = samsungTrailer(bytes, { from, parts })
  return start === bytes.length ? startOfFilm(bytes, { from, parts }) : start
}

/**
 * The trailer of a Samsung phone consists of blocks, a directory, the length of the directory, and
 * `SEFT`. The directory has an entry of twelve bytes for each block. Bytes 4 to 7 of an entry say
 * how far before the directory its block begins. The block begins with the first four bytes of its
 * entry.
 */
function samsungTrailer(
  bytes: Buffer,
  { from, parts }: { from: number; parts: PartCount },
): number {
  const end = bytes.length
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
 * The size of the first box is checked too, because the letters `ftyp` occur by chance in one of
 * about a thousand large pictures.
 */
function startOfFilm(bytes: Buffer, { from, parts }: { from: number; parts: PartCount }): number {
  const next = isFrequent(bytes, from) ? indexOfType : nativeIndexOfType
  for (let at = from + 4; (at = next(bytes, at)) !== -1; at += 4) {
    parts.add()
    if (bytes.readUInt32BE(at - 4) < boxBytesMax) return at - 4
  }
  return bytes.length
}

/** The maximum size of the first box of a film. */
const boxBytesMax = 256
const samples = 1_024

/**
 * Whether the letter `f`, with which `ftyp` begins, is so frequent that `nativeIndexOfType` would
 * take long: up to 80 ms for 10 MB. In the data of a scan it is not frequent. The samples are
 * random, so that no file can be made to avoid them.
 */
function isFrequent(bytes: Buffer, from: number): boolean {
  let count = 0
  for (let n = 0; n < samples; n++) {
    const at = from + Math.floor(Math.random() * (bytes.length - from))
    count += +(bytes[at] === fileType[0])
  }
  return count > samples / 32
}

const nativeIndexOfType = (bytes: Buffer, from: number) => bytes.indexOf(fileType, from)

/** For each byte, its place in `ftyp`, from 1 to 4; 0 if it is not one of these letters. */
const placeOf = Uint8Array.from({ length: 256 }, (_, byte) => fileType.indexOf(byte) + 1)

/**
 * Returns the same as `nativeIndexOfType`. It is slower for ordinary data, but takes the same time
 * for all data: 7 ms for 10 MB. It reads every fourth byte. The letters of `ftyp` differ, so each
 * of them shows where the four letters must begin. Only the branch that ends the loop depends on
 * the data. With another such branch, a file could be made for which the processor always predicts
 * the wrong branch.
 */
function indexOfType(bytes: Buffer, from: number): number {
  const view = viewOf(bytes)
  let at = from + 3
  for (; at + 5 <= bytes.length; at += 4) {
    const start = at + 1 - (placeOf[view.getUint8(at)] as number)
    if (view.getUint32(start) === fileTypeNumber) return start
  }
  return nativeIndexOfType(bytes, at - 3)
}
