import { scrubProfile } from '../color-profile.ts'
import { Edit } from '../edit.ts'
import { KeptRanges } from '../kept-ranges.ts'
import { PictureError } from '../picture-error.ts'
import { ByteCount, Largest, PartCount, type Walked } from '../walked.ts'
import { keepPixels, removeFromJpeg } from './tiff-pixels.ts'
import { TiffReader, wholeTypes, type Entry } from './tiff-reader.ts'
import { isKept, tags } from './tiff-tags.ts'
import { numbersOf, type TiffWalk } from './tiff-walk.ts'

const directoriesMax = 1_000

/**
 * Keeps what is needed to render the images: directories, the necessary tags with their values,
 * strips and tiles. Zeroes everything else: Exif, GPS, maker notes, XMP, IPTC, and bytes to which
 * nothing refers.
 */
export function walkTiff(bytes: Buffer): Walked {
  const reader = new TiffReader(bytes)
  const walk: TiffWalk = {
    reader,
    parts: new PartCount(),
    bytesRead: new ByteCount(2 * bytes.length),
    edit: new Edit(),
    ranges: new KeptRanges(bytes.length),
    largest: new Largest(),
  }
  walk.ranges.add(0, reader.headerBytes)
  const visited = new Set<number>()
  const waiting = [reader.offset(reader.offsetBytes)]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === 0 || visited.has(at)) continue
    if (visited.add(at).size > directoriesMax) throw new PictureError('it has too many directories')
    waiting.push(...keepDirectory(walk, at))
  }
  if (visited.size === 0) throw new PictureError('it has no directory')
  walk.ranges.keepOnly(walk.edit)
  return { width: walk.largest.width, height: walk.largest.height, edit: walk.edit }
}

/**
 * Rewrites a directory so that it has only the entries that are kept. Returns the positions of the
 * directories to which it refers.
 */
function keepDirectory(walk: TiffWalk, at: number): number[] {
  const { reader, parts, bytesRead, edit, ranges } = walk
  const { bytes, countBytes, entryBytes } = reader
  const count = reader.number(at, countBytes)
  const next = at + countBytes + count * entryBytes
  const end = next + reader.offsetBytes
  reader.require(at, end)
  parts.add(1 + count)
  bytesRead.add(end - at)
  const rewritten = Buffer.alloc(end - at)
  let written = countBytes
  const entries = new Map<number, Entry>()
  for (let from = at + countBytes; from < next; from += entryBytes) {
    const entry = keepEntry(walk, from)
    if (entry === undefined) continue
    // Some programs use the first of two such entries and others the second, so the file is
    // refused.
    if (entries.has(entry.tag)) throw new PictureError('a directory of it has an entry twice')
    entries.set(entry.tag, entry)
    bytes.copy(rewritten, written, from, from + entryBytes)
    written += entryBytes
  }
  bytes.copy(rewritten, written, next, end)
  // Writes the number of entries in the byte order of the file.
  const kept = (written - countBytes) / entryBytes
  for (let n = 0, rest = kept; n < countBytes; n++, rest = Math.floor(rest / 256)) {
    rewritten[reader.isLittle ? n : countBytes - 1 - n] = rest % 256
  }
  ranges.add(at, end)
  if (!bytes.subarray(at, end).equals(rewritten)) edit.set(at, rewritten)
  keepPixels(walk, entries)
  const others = entries.get(tags.subDirectories)
  return [reader.offset(next), ...(others === undefined ? [] : numbersOf(walk, others))]
}

/** Reads an entry and keeps its values; undefined if the entry is not kept. */
function keepEntry(walk: TiffWalk, from: number): Entry | undefined {
  const { reader, parts, bytesRead, edit, ranges } = walk
  const entry = reader.entry(from)
  if (entry === undefined || !isKept.has(entry.tag)) return undefined
  const { tag, type, at, bytes } = entry
  // `walkTiff` follows only references that are whole numbers. References of other types are not
  // kept, because they could lead to any directory, even to one in the pixels.
  if (tag === tags.subDirectories && !wholeTypes.has(type)) return undefined
  // Refuses a compression of another type, such as a fraction. Some programs convert it, and could
  // then decode the strips as another format than `keepPixels` expects.
  if (tag === tags.compression && !wholeTypes.has(type)) {
    throw new PictureError('its compression is not a number')
  }
  if (bytes <= reader.offsetBytes) return entry
  reader.require(at, at + bytes)
  ranges.add(at, at + bytes)
  if (tag === tags.profile) {
    bytesRead.add(bytes)
    scrubProfile(reader.bytes, [{ from: at, to: at + bytes }], { edit, parts })
  }
  if (tag === tags.jpegTables) removeFromJpeg(walk, at, bytes)
  return entry
}
