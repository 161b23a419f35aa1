import { mebibyte } from '../bodies.ts'

/** A picture that takes long to examine. */
export interface CostlyPicture {
  name: string
  type: string
  /** Makes the picture anew at each call. Pictures are not kept, because most are very large. */
  bytes: () => Buffer
  /** Why it is refused; undefined if it is accepted. */
  refusal?: string
}

export const bytesMax = 10 * mebibyte - 100

/** The number of parts in some of the pictures, a little below the gateway's limit. */
export const manyParts = 19_900
export const tooMany = 'it has too many parts'
export const tooOften = 'it refers to the same bytes too often'
export const hex = (text: string) => Buffer.from(text, 'hex')
export const latin1 = (text: string) => Buffer.from(text, 'latin1')
export const times = (unit: Buffer, count: number) => Buffer.alloc(unit.length * count, unit)

function numbers(size: 2 | 4, values: number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length)
  values.forEach((value, n) => bytes.writeUIntBE(value, n * size, size))
  return bytes
}

export const u16 = (...values: number[]) => numbers(2, values)
export const u32 = (...values: number[]) => numbers(4, values)

/** Repeats `unit` between `head` and `tail`, as often as fits into `bytesMax`. */
export function filled(head: Buffer, unit: Buffer, tail: Buffer = Buffer.alloc(0)): Buffer {
  const count = Math.floor((bytesMax - head.length - tail.length) / unit.length)
  return Buffer.concat([head, times(unit, count), tail])
}
