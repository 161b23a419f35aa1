import { planted, plantedNumber, xmp } from './planted.ts'

export type Order = 'II' | 'MM'

/**
 * An entry of a directory. `directories` and `blocks` are written outside the entry, which then
 * contains their offsets.
 */
export interface Entry {
  tag: number
  type: number
  values: readonly number[] | Buffer | { directories: Entry[][] } | { blocks: Buffer[] }
}

export const short = (tag: number, ...values: number[]): Entry => ({ tag, type: 3, values })
export const long = (tag: number, ...values: number[]): Entry => ({ tag, type: 4, values })
const ascii = (tag: number, text: string): Entry => ({
  tag,
  type: 2,
  values: Buffer.from(`${text}\0`),
})
const bytes = (tag: number, values: Buffer, type = 7): Entry => ({ tag, type, values })
/** The values are numerators and denominators in turn. */
const rationals = (tag: number, ...values: number[]): Entry => ({ tag, type: 5, values })
export const directory = (tag: number, ...directories: Entry[][]): Entry => ({
  tag,
  type: 4,
  values: { directories },
})
export const blocks = (tag: number, ...list: Buffer[]): Entry => ({
  tag,
  type: 4,
  values: { blocks: list },
})

/** Writes a TIFF file, or a block of Exif: a chain of directories and what they refer to. */
export function writeTiff(
  chain: Entry[][],
  { order, isBig = false }: { order: Order; isBig?: boolean },
): Buffer {
  const writer = new TiffWriter(order, isBig)
  return writer.write(chain)
}

class TiffWriter {
  readonly #order: Order
  readonly #isBig: boolean
  readonly #parts: Buffer[] = []
  #length = 0

  constructor(order: Order, isBig: boolean) {
    this.#order = order
    this.#isBig = isBig
  }

  write(chain: Entry[][]): Buffer {
    const offsetBytes = this.#isBig ? 8 : 4
    const head = Buffer.alloc(this.#isBig ? 16 : 8)
    head.write(this.#order)
    this.#put(head, 2, this.#isBig ? 43 : 42, 2)
    if (this.#isBig) this.#put(head, 4, 8, 2)
    this.#place(head)
    let next: [bytes: Buffer, at: number] = [head, offsetBytes === 8 ? 8 : 4]
    for (const entries of chain) {
      this.#put(next[0], next[1], this.#length, offsetBytes)
      next = this.#directory(entries)
    }
    return Buffer.concat(this.#parts)
  }

  /**
   * Writes a directory. Returns its bytes, and the position in these bytes at which the caller must
   * write the offset of the next directory.
   */
  #directory(entries: Entry[]): [bytes: Buffer, at: number] {
    const [countBytes, entryBytes, offsetBytes] = this.#isBig ? [8, 20, 8] : [2, 12, 4]
    const written = Buffer.alloc(countBytes + entries.length * entryBytes + offsetBytes)
    this.#place(written)
    this.#put(written, 0, entries.length, countBytes)
    entries
      .toSorted((one, other) => one.tag - other.tag)
      .forEach((entry, n) => {
        const at = countBytes + n * entryBytes
        const type = this.#isBig && !isPlain(entry.values) ? 16 : entry.type
        const values = this.#valuesOf(entry, type)
        const count = type === 5 ? values.length / 8 : values.length / (sizes[type] ?? 1)
        this.#put(written, at, entry.tag, 2)
        this.#put(written, at + 2, type, 2)
        this.#put(written, at + 4, count, offsetBytes)
        const field = at + 4 + offsetBytes
        if (values.length <= offsetBytes) values.copy(written, field)
        else this.#put(written, field, this.#place(values), offsetBytes)
      })
    return [written, written.length - offsetBytes]
  }

  #valuesOf({ values }: Entry, type: number): Buffer {
    if (Buffer.isBuffer(values)) return values
    const numbers =
      'blocks' in values
        ? values.blocks.map((block) => this.#place(block))
        : 'directories' in values
          ? values.directories.map((entries) => {
              const at = this.#length
              this.#directory(entries)
              return at
            })
          : values
    const size = type === 5 ? 4 : (sizes[type] ?? 1)
    const written = Buffer.alloc(numbers.length * size)
    numbers.forEach((value, n) => this.#put(written, n * size, value, size))
    return written
  }

  /** Appends bytes at an even offset, and returns this offset. */
  #place(block: Buffer): number {
    const at = this.#length
    const padded = block.length % 2 === 0 ? block : Buffer.concat([block, Buffer.alloc(1)])
    this.#parts.push(padded)
    this.#length += padded.length
    return at
  }

  #put(into: Buffer, at: number, value: number, size: number): void {
    const isLittle = this.#order === 'II'
    if (size === 8) {
      if (isLittle) into.writeBigUInt64LE(BigInt(value), at)
      else into.writeBigUInt64BE(BigInt(value), at)
    } else if (isLittle) into.writeUIntLE(value, at, size)
    else into.writeUIntBE(value, at, size)
  }
}

const sizes: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 16: 8 }

function isPlain(values: Entry['values']): boolean {
  return Buffer.isBuffer(values) || Array.isArray(values)
}

/** About 50 degrees. The numerators contain the planted trace. */
const degrees = [plantedNumber, 26_943_494, plantedNumber, 60_000_000, plantedNumber, 90_000_000]

const gps: Entry[] = [
  bytes(0, Buffer.from([2, 3, 0, 0]), 1),
  ascii(1, 'N'),
  rationals(2, ...degrees),
  ascii(3, 'E'),
  rationals(4, ...degrees),
  bytes(29, Buffer.from(planted), 2),
]

function cameraEntries(orientation?: number): Entry[] {
  return [
    ascii(0x010f, `Maker ${planted}`),
    ascii(0x0110, `Model ${planted}`),
    ...(orientation === undefined ? [] : [short(0x0112, orientation)]),
    ascii(0x013b, planted),
    ascii(0x8298, planted),
    directory(0x8769, [
      bytes(0x927c, Buffer.from(`MakerNote ${planted}`)),
      bytes(0x9286, Buffer.from(`ASCII\0\0\0${planted}`)),
      ascii(0xa431, planted),
      ascii(0xa435, planted),
    ]),
    directory(0x8825, gps),
  ]
}

/** A camera's block of Exif, optionally with a preview in a second directory. */
export function exifBlock(
  options: { order?: Order; orientation?: number; preview?: Buffer } = {},
): Buffer {
  const { order = 'MM', orientation, preview } = options
  const second = preview && [
    short(0x0103, 6),
    blocks(0x0201, preview),
    long(0x0202, preview.length),
  ]
  return writeTiff([cameraEntries(orientation), ...(second ? [second] : [])], { order })
}

/** The metadata that cameras and programs put into a TIFF. */
export const tiffMetadata: Entry[] = [
  ...cameraEntries(),
  ascii(0x010e, planted),
  ascii(0x0131, planted),
  ascii(0x0151, planted),
  rationals(0xc630, plantedNumber, 1, plantedNumber, 1, 28, 10, 28, 10),
  rationals(0xc623, plantedNumber, 1),
  rationals(0xc624, plantedNumber, 1),
  bytes(0x02bc, xmp, 1),
  bytes(0x83bb, Buffer.from(planted)),
  bytes(0x8649, Buffer.from(planted)),
  bytes(0x87af, Buffer.from(planted), 2),
]
