import { KeptRanges } from '../kept-ranges.ts'
import { hasText, Reader } from '../reader.ts'
import { ByteCount, Walk } from '../walk.ts'

/** The size of one value in bytes. The index is TIFF's number for the type of the value. */
// oxfmt-ignore
const typeBytes: readonly (number | undefined)[] = [
  undefined, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, undefined, undefined, 8, 8, 8,
]
/** BYTE, SHORT, LONG, IFD, LONG8, IFD8, and the signed types, which are read without sign. */
export const wholeTypes = new Set([1, 3, 4, 6, 8, 9, 13, 16, 17, 18])

export interface Entry {
  tag: number
  type: number
  count: number
  /** The position of the values: in the entry itself, or elsewhere. */
  at: number
  bytes: number
}

/**
 * Walks a TIFF or a BigTIFF. In a BigTIFF an offset has 8 bytes instead of 4, and the number of
 * entries in a directory has 8 bytes instead of 2.
 */
export class TiffWalk extends Walk {
  readonly isLittle = hasText(this.bytes, 0, 'II')
  readonly reader = new Reader(this.bytes, this.isLittle ? 'little-endian' : 'big-endian')
  readonly #isBig = this.reader.u16(2) === 43
  readonly offsetBytes = this.#isBig ? 8 : 4
  /** The number of bytes in which a directory stores how many entries it has. */
  readonly countBytes = this.#isBig ? 8 : 2
  readonly entryBytes = this.#isBig ? 20 : 12
  /** Limits how much is read: directories may share bytes, so a small file could take long. */
  readonly bytesRead = new ByteCount(2 * this.bytes.length)
  readonly ranges = new KeptRanges(this.bytes.length)

  offset(at: number): number {
    return this.reader.number(at, this.offsetBytes)
  }

  /** Returns undefined for an unknown type. Values no longer than an offset are in the entry. */
  entry(from: number): Entry | undefined {
    const tag = this.reader.u16(from)
    const type = this.reader.u16(from + 2)
    const valueBytes = typeBytes[type]
    if (valueBytes === undefined) return undefined
    const count = this.offset(from + 4)
    const bytes = count * valueBytes
    const field = from + 4 + this.offsetBytes
    const at = bytes <= this.offsetBytes ? field : this.offset(field)
    return { tag, type, count, at, bytes }
  }

  /** The values of an entry if they are whole numbers; an empty list for other types. */
  numbersOf({ type, count, at, bytes }: Entry): number[] {
    if (bytes === 0 || !wholeTypes.has(type)) return []
    this.parts.add(count)
    const size = bytes / count
    return Array.from({ length: count }, (_, n) => this.reader.number(at + n * size, size))
  }
}
