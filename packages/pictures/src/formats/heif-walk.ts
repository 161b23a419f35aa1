import type { Edit } from '../edit.ts'
import type { KeptRanges } from '../kept-ranges.ts'
import type { Reader } from '../reader.ts'
import type { ByteCount, Largest, PartCount } from '../walked.ts'
import type { Box } from './boxes.ts'

export interface HeifWalk {
  reader: Reader
  parts: PartCount
  /**
   * Limits the bytes that are read from JPEGs, or zeroed in other items. Several items can refer to
   * the same bytes, so a small file could otherwise take long.
   */
  dataBytes: ByteCount
  edit: Edit
  ranges: KeptRanges
  largest: Largest
  /**
   * The earliest position at which the file may end. Decoders refuse a file that is too short for
   * the data of an item.
   */
  end: number
  /**
   * Turns a box into free space. Its content is zeroed, except where another kept range covers it.
   */
  free(box: Box): void
}
