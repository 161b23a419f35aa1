import type { Edit } from '../edit.ts'
import type { KeptRanges } from '../kept-ranges.ts'
import type { ByteCount, Largest, PartCount } from '../walked.ts'
import { wholeTypes, type Entry, type TiffReader } from './tiff-reader.ts'

export interface TiffWalk {
  reader: TiffReader
  parts: PartCount
  /** Limits how much is read: directories may share bytes, so a small file could take long. */
  bytesRead: ByteCount
  edit: Edit
  ranges: KeptRanges
  largest: Largest
}

/** The values of an entry if they are whole numbers; an empty list for other types. */
export function numbersOf(
  { reader, parts }: TiffWalk,
  { type, count, at, bytes }: Entry,
): number[] {
  if (bytes === 0 || !wholeTypes.has(type)) return []
  parts.add(count)
  const size = bytes / count
  return Array.from({ length: count }, (_, n) => reader.number(at + n * size, size))
}
