import { PictureError } from './picture-error.ts'

/** Reads numbers from a file. Beyond the end of the file it throws a `PictureError`. */
export class Reader {
  readonly bytes: Buffer
  readonly #isLittle: boolean

  constructor(bytes: Buffer, order: 'big-endian' | 'little-endian') {
    this.bytes = bytes
    this.#isLittle = order === 'little-endian'
  }

  u8(at: number): number {
    this.require(at, at + 1)
    return this.bytes.readUInt8(at)
  }

  u16(at: number): number {
    this.require(at, at + 2)
    return this.#isLittle ? this.bytes.readUInt16LE(at) : this.bytes.readUInt16BE(at)
  }

  u32(at: number): number {
    this.require(at, at + 4)
    return this.#isLittle ? this.bytes.readUInt32LE(at) : this.bytes.readUInt32BE(at)
  }

  /** A number beyond 2^53 is rounded; no file is that long. */
  u64(at: number): number {
    this.require(at, at + 8)
    return Number(this.#isLittle ? this.bytes.readBigUInt64LE(at) : this.bytes.readBigUInt64BE(at))
  }

  /** Reads a number of 1, 2, 4 or 8 bytes. */
  number(at: number, size: number): number {
    if (size === 1) return this.u8(at)
    if (size === 2) return this.u16(at)
    return size === 4 ? this.u32(at) : this.u64(at)
  }

  /** @throws {PictureError} if the file ends before `to`, exclusive */
  require(from: number, to: number): void {
    if (from < 0 || to < from || to > this.bytes.length) throw new PictureError('it ends too early')
  }
}

/** The number that four letters form in a big-endian file. */
export function fourLetters(letters: string): number {
  return Buffer.from(letters, 'latin1').readUInt32BE()
}

/** @param names separated by commas, because a name may end with a blank */
export function setOfFourLetters(names: string): ReadonlySet<number> {
  return new Set(names.split(',').map(fourLetters))
}

export function hasText(bytes: Buffer, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false
  for (let n = 0; n < text.length; n++) if (bytes[at + n] !== text.charCodeAt(n)) return false
  return true
}
