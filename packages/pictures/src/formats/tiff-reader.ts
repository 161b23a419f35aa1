import { hasText, Reader } from '../reader.ts'

/** The size of one value in bytes. The index is TIFF's number for the type of the value. */
// oxfmt-ignore
const typeBytes: readonly (number | undefined)[] = [
  undefined, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, undefined, undefined, 8, 8, 8,
]
/**
 * The types of whole numbers: BYTE, SHORT, LONG, IFD, LONG8 and IFD8, and the signed types, which
 * are read as if they had no sign.
 */
export const wholeTypes = new Set([1, 3, 4, 6, 8, 9, 13, 16, 17, 18])

export interface Entry {
  tag: number
  type: number
  count: number
  /** The position of the values: in the entry itself, or elsewhere. */
  at: number
  bytes: number
}

/** Reads the numbers of a TIFF. Some numbers have more bytes in a BigTIFF. */
export class TiffReader {
  readonly bytes: Buffer
  readonly isLittle: boolean
  readonly #reader: Reader
  /**
   * Whether the file is a BigTIFF: an offset has 8 bytes instead of 4, and the number of entries in
   * a directory has 8 bytes instead of 2.
   */
  readonly #isBig: boolean
  readonly offsetBytes: number
  readonly headerBytes: number
  /** The number of bytes in which a directory stores how many entries it has. */
  readonly countBytes: number
  readonly entryBytes: number

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.isLittle = hasText(bytes, 0, 'II')
    this.#reader = new Reader(bytes, this.isLittle ? 'little-endian' : 'big-endian')
    this.#isBig = this.#reader.u16(2) === 43
    this.offsetBytes = this.#isBig ? 8 : 4
    this.headerBytes = 2 * this.offsetBytes
    this.countBytes = this.#isBig ? 8 : 2
    this.entryBytes = this.#isBig ? 20 : 12
    this.require(0, this.headerBytes)
  }

  /** @throws {PictureError} unless the bytes exist */
  require(from: number, to: number): void {
    this.#reader.require(from, to)
  }

  /** Reads a number of 1, 2, 4 or 8 bytes. */
  number(at: number, size: number): number {
    if (size === 1) return this.#reader.u8(at)
    if (size === 2) return this.#reader.u16(at)
    return size === 4 ? this.#reader.u32(at) : this.#reader.u64(at)
  }

  offset(at: number): number {
    return this.number(at, this.offsetBytes)
  }

  /**
   * Reads the entry at a position; undefined if its type is not known. The values are in the entry
   * if they are no longer than an offset.
   */
  entry(from: number): Entry | undefined {
    const tag = this.number(from, 2)
    const type = this.number(from + 2, 2)
    const valueBytes = typeBytes[type]
    if (valueBytes === undefined) return undefined
    const count = this.offset(from + 4)
    const bytes = count * valueBytes
    const field = from + 4 + this.offsetBytes
    const at = bytes <= this.offsetBytes ? field : this.offset(field)
    return { tag, type, count, at, bytes }
  }
}
