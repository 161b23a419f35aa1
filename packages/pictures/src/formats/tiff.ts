import { scrubProfile } from '../color-profile.ts'
import { PictureError } from '../picture-error.ts'
import type { Walk } from '../walk.ts'
import { keepPixels, removeFromJpeg } from './tiff-pixels.ts'
import { isKept, tags } from './tiff-tags.ts'
import { TiffWalk, wholeTypes, type Entry } from './tiff-walk.ts'

const directoriesMax = 1_000

/**
 * Keeps what is needed to render the images: directories, the necessary tags with their values,
 * strips and tiles. Zeroes everything else: Exif, GPS, maker notes, XMP, IPTC, and bytes to which
 * nothing refers.
 */
export function walkTiff(bytes: Buffer): Walk {
  const walk = new TiffWalk(bytes)
  const headerBytes = 2 * walk.offsetBytes
  walk.reader.require(0, headerBytes)
  walk.ranges.add(0, headerBytes)
  const visited = new Set<number>()
  const waiting = [walk.offset(walk.offsetBytes)]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === 0 || visited.has(at)) continue
    if (visited.add(at).size > directoriesMax) throw new PictureError('it has too many directories')
    waiting.push(...keepDirectory(walk, at))
  }
  if (visited.size === 0) throw new PictureError('it has no directory')
  walk.ranges.keepOnly(walk.edit)
  return walk
}

/** Returns the directories to which it refers. */
function keepDirectory(walk: TiffWalk, at: number): number[] {
  const { bytes, reader, countBytes, entryBytes } = walk
  const count = reader.number(at, countBytes)
  const next = at + countBytes + count * entryBytes
  const end = next + walk.offsetBytes
  reader.require(at, end)
  walk.parts.add(1 + count)
  walk.bytesRead.add(end - at)
  const rewritten = Buffer.alloc(end - at)
  let written = countBytes
  const entries = new Map<number, Entry>()
  for (let from = at + countBytes; from < next; from += entryBytes) {
    const entry = keepEntry(walk, from)
    if (entry === undefined) continue
    // Some programs use the first of two such entries, and others the second.
    if (entries.has(entry.tag)) throw new PictureError('a directory of it has an entry twice')
    entries.set(entry.tag, entry)
    bytes.copy(rewritten, written, from, from + entryBytes)
    written += entryBytes
  }
  bytes.copy(rewritten, written, next, end)
  // Writes the number of entries in the byte order of the file.
  const kept = (written - countBytes) / entryBytes
  for (let n = 0, rest = kept; n < countBytes; n++, rest = Math.floor(rest / 256)) {
    rewritten[walk.isLittle ? n : countBytes - 1 - n] = rest % 256
  }
  walk.ranges.add(at, end)
  if (!bytes.subarray(at, end).equals(rewritten)) walk.edit.set(at, rewritten)
  keepPixels(walk, entries)
  const others = entries.get(tags.subDirectories)
  return [walk.offset(next), ...(others === undefined ? [] : walk.numbersOf(others))]
}

/** Reads an entry and keeps its values; undefined if the entry is not kept. */
function keepEntry(walk: TiffWalk, from: number): Entry | undefined {
  const entry = walk.entry(from)
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
  if (bytes <= walk.offsetBytes) return entry
  walk.reader.require(at, at + bytes)
  walk.ranges.add(at, at + bytes)
  if (tag === tags.profile) {
    walk.bytesRead.add(bytes)
    scrubProfile(walk, [{ from: at, to: at + bytes }])
  }
  if (tag === tags.jpegTables) removeFromJpeg(walk, at, bytes)
  return entry
}
