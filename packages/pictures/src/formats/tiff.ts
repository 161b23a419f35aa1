import { scrubProfile } from '../color-profile.ts'
import { Edit } from '../edit.ts'
import { KeptRanges } from '../kept-ranges.ts'
import { PictureError } from '../picture-error.ts'
import { hasText, Reader } from '../reader.ts'
import { ByteCount, Largest, PartCount, type Walked } from '../walked.ts'
import { zeroJpegMetadata } from './jpeg.ts'

const tags = {
  width: 256,
  height: 257,
  compression: 259,
  stripOffsets: 273,
  stripBytes: 279,
  tileOffsets: 324,
  tileBytes: 325,
  subDirectories: 330,
  jpegTables: 347,
  jpegOffset: 513,
  jpegBytes: 514,
  profile: 34675,
}
/**
 * The tags that are needed to render an image: those of TIFF 6.0 and its supplements, and those for
 * colours in DNG, except the calibration of the individual camera.
 */
const keptTags: readonly (number | [first: number, last: number])[] = [
  [254, 259],
  [262, 266],
  [273, 274],
  [277, 284],
  [290, 293],
  [296, 297],
  301,
  [317, 332],
  334,
  336,
  [338, 347],
  [512, 515],
  517,
  518,
  [529, 532],
  [33421, 33422],
  34675,
  [50706, 50707],
  [50710, 50722],
  [50725, 50734],
  [50737, 50739],
  [50778, 50780],
  [50829, 50830],
]
const isKept: ReadonlySet<number> = new Set(
  keptTags.flatMap((range) => {
    const [first, last] = typeof range === 'number' ? [range, range] : range
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  }),
)
/** Bytes of one value, by type. */
// prettier-ignore
const typeBytes: readonly (number | undefined)[] = [
  undefined, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, undefined, undefined, 8, 8, 8,
]
const olderJpeg = 6
/** The compression methods in which each strip is a JPEG. */
const jpegCompressions = new Set([olderJpeg, 7, 99, 33007, 34892])
/** Those in which each strip is JPEG XL, either its bare pixels or a file with metadata. */
const jpegXlCompressions = new Set([50002, 52546])
/**
 * Those in which each strip may be a file of another format, with metadata: JPEG XR, JPEG 2000,
 * WebP, PNG and unregistered uses of JPEG. Phones and cameras do not use them.
 */
const fileCompressions = new Set([
  22610, 33003, 33004, 33005, 34712, 34927, 34933, 34934, 50001, 65000,
])
const directoriesMax = 1_000

interface Entry {
  tag: number
  type: number
  count: number
  /** The position of the values: in the entry itself, or elsewhere. */
  at: number
  bytes: number
}

/**
 * Keeps the directories with the tags that are needed to render the images, their values, and the
 * strips and tiles. Everything else is zeroed: Exif, GPS, maker notes, XMP, IPTC, and bytes to
 * which nothing refers.
 */
export function walkTiff(bytes: Buffer): Walked {
  const walk = new TiffWalk(bytes)
  walk.run()
  return { width: walk.largest.width, height: walk.largest.height, edit: walk.edit }
}

class TiffWalk {
  readonly edit = new Edit()
  readonly largest = new Largest()
  readonly #reader: Reader
  readonly #bytes: Buffer
  readonly #ranges: KeptRanges
  readonly #parts = new PartCount()
  /**
   * Whether the file is a BigTIFF: offsets have 8 bytes instead of 4, and a number of entries has 8
   * bytes instead of 2.
   */
  readonly #isBig: boolean
  /** Limits how much is read: directories may share bytes, so a small file could take long. */
  readonly #bytesRead: ByteCount

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#reader = new Reader(bytes, hasText(bytes, 0, 'II') ? 'little-endian' : 'big-endian')
    this.#isBig = this.#reader.u16(2) === 43
    this.#ranges = new KeptRanges(bytes.length)
    this.#bytesRead = new ByteCount(2 * bytes.length)
  }

  run(): void {
    const headerBytes = this.#isBig ? 16 : 8
    this.#reader.require(0, headerBytes)
    this.#ranges.add(0, headerBytes)
    const visited = new Set<number>()
    const waiting = [this.#offset(headerBytes / 2)]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (at === 0 || visited.has(at)) continue
      if (visited.add(at).size > directoriesMax)
        throw new PictureError('it has too many directories')
      waiting.push(...this.#directory(at))
    }
    if (visited.size === 0) throw new PictureError('it has no directory')
    this.#ranges.keepOnly(this.edit)
  }

  /**
   * Rewrites a directory so that it has only the entries that are kept. Returns the positions of
   * the directories to which it refers.
   */
  #directory(at: number): number[] {
    const reader = this.#reader
    const countBytes = this.#isBig ? 8 : 2
    const entryBytes = this.#isBig ? 20 : 12
    const count = this.#isBig ? reader.u64(at) : reader.u16(at)
    const entriesAt = at + countBytes
    const next = entriesAt + count * entryBytes
    const end = next + this.#offsetBytes
    reader.require(at, end)
    this.#parts.add(1 + count)
    this.#bytesRead.add(end - at)
    const rewritten = Buffer.alloc(end - at)
    let written = countBytes
    const entries = new Map<number, Entry>()
    for (let from = entriesAt; from < next; from += entryBytes) {
      const entry = this.#entry(from)
      if (entry === undefined) continue
      // Readers differ in which of two entries they use.
      if (entries.has(entry.tag)) throw new PictureError('a directory of it has an entry twice')
      entries.set(entry.tag, entry)
      this.#bytes.copy(rewritten, written, from, from + entryBytes)
      written += entryBytes
    }
    this.#bytes.copy(rewritten, written, next, end)
    // Writes the number of entries in the byte order of the file.
    const kept = (written - countBytes) / entryBytes
    const swap = hasText(this.#bytes, 0, 'II')
    for (let n = 0, rest = kept; n < countBytes; n++, rest = Math.floor(rest / 256)) {
      rewritten[swap ? n : countBytes - 1 - n] = rest % 256
    }
    this.#ranges.add(at, end)
    if (!this.#bytes.subarray(at, end).equals(rewritten)) this.edit.set(at, rewritten)
    this.#pixels(entries)
    const others = entries.get(tags.subDirectories)
    return [this.#offset(next), ...(others === undefined ? [] : this.#numbers(others))]
  }

  /** Reads an entry and keeps its values; undefined if the entry is not kept. */
  #entry(from: number): Entry | undefined {
    const reader = this.#reader
    const tag = reader.u16(from)
    const type = reader.u16(from + 2)
    const valueBytes = typeBytes[type]
    if (!isKept.has(tag) || valueBytes === undefined) return undefined
    // `run` follows only references that are whole numbers. References of other types are not kept,
    // because they could lead to any directory, even to one in the pixels.
    if (tag === tags.subDirectories && !wholeTypes.has(type)) return undefined
    // Some readers convert other types, so they could decode the strips in another way.
    if (tag === tags.compression && !wholeTypes.has(type)) {
      throw new PictureError('its compression is not a number')
    }
    const count = this.#isBig ? reader.u64(from + 4) : reader.u32(from + 4)
    const bytes = count * valueBytes
    const field = from + (this.#isBig ? 12 : 8)
    if (bytes <= this.#offsetBytes) return { tag, type, count, at: field, bytes }
    const at = this.#offset(field)
    reader.require(at, at + bytes)
    this.#ranges.add(at, at + bytes)
    if (tag === tags.profile) {
      this.#bytesRead.add(bytes)
      const walk = { edit: this.edit, parts: this.#parts }
      scrubProfile(this.#bytes, [{ from: at, to: at + bytes }], walk)
    }
    if (tag === tags.jpegTables) this.#jpeg(at, bytes)
    return { tag, type, count, at, bytes }
  }

  /** Keeps the strips, the tiles and the JPEG of a directory. */
  #pixels(entries: ReadonlyMap<number, Entry>): void {
    const numbers = (tag: number) => {
      const entry = entries.get(tag)
      return entry === undefined ? [] : this.#numbers(entry)
    }
    this.largest.add(numbers(tags.width)[0] ?? 0, numbers(tags.height)[0] ?? 0)
    const compressions = numbers(tags.compression)
    const uses = (methods: ReadonlySet<number>) => compressions.some((one) => methods.has(one))
    if (uses(fileCompressions)) throw new PictureError('it contains another picture')
    // Such strips cannot be decoded without tables that are not kept.
    if (compressions.includes(olderJpeg) && !entries.has(tags.jpegOffset)) {
      throw new PictureError('the tables of its JPEG are elsewhere')
    }
    const isJpeg = uses(jpegCompressions)
    const isJpegXl = uses(jpegXlCompressions)
    let whole = { from: 0, to: 0 }
    for (const [offsetTag, bytesTag] of [
      [tags.jpegOffset, tags.jpegBytes],
      [tags.stripOffsets, tags.stripBytes],
      [tags.tileOffsets, tags.tileBytes],
    ] as const) {
      const offsets = numbers(offsetTag)
      const sizes = numbers(bytesTag)
      if (sizes.length < offsets.length) throw new PictureError('a part of it has no size')
      offsets.forEach((at, n) => {
        const size = sizes[n] ?? 0
        this.#ranges.add(at, at + size)
        if (isJpegXl && hasText(this.#bytes, at + 4, 'JXL ')) {
          throw new PictureError('it contains another picture')
        }
        if (offsetTag === tags.jpegOffset) whole = { from: at, to: at + size }
        // In the older kind of JPEG the strips are parts of one JPEG, whose position is in
        // `jpegOffset`.
        else if (!isJpeg || (at >= whole.from && at + size <= whole.to)) return
        this.#jpeg(at, size)
      })
    }
  }

  #jpeg(at: number, bytes: number): void {
    const end = Math.min(at + bytes, this.#bytes.length)
    if (at >= end) return
    // The bytes count twice, because reading them one by one takes longer.
    this.#bytesRead.add(2 * (end - at))
    const range = { start: at, end, parts: this.#parts }
    zeroJpegMetadata(this.#bytes, range, this.edit)
  }

  /** The values of an entry if its type is a whole number; an empty list for other types. */
  #numbers({ type, count, at, bytes }: Entry): number[] {
    if (bytes === 0 || !wholeTypes.has(type)) return []
    this.#parts.add(count)
    const size = bytes / count
    return Array.from({ length: count }, (_, n) => this.#number(at + n * size, size))
  }

  #number(at: number, size: number): number {
    if (size === 1) return this.#reader.u8(at)
    if (size === 2) return this.#reader.u16(at)
    return size === 4 ? this.#reader.u32(at) : this.#reader.u64(at)
  }

  #offset(at: number): number {
    return this.#number(at, this.#offsetBytes)
  }

  get #offsetBytes(): number {
    return this.#isBig ? 8 : 4
  }
}

/**
 * The types of whole numbers: BYTE, SHORT, LONG, IFD, LONG8 and IFD8, and the signed types, which are
 * read as if they had no sign.
 */
const wholeTypes = new Set([1, 3, 4, 6, 8, 9, 13, 16, 17, 18])
