import type { Edit } from '../edit.ts'
import type { KeptRanges } from '../kept-ranges.ts'
import type { Reader } from '../reader.ts'
import type { ByteCount, Largest, PartCount } from '../walked.ts'
import type { Box } from './boxes.ts'

/** What the parts of a HEIF walk share. */
export interface HeifWalk {
  reader: Reader
  parts: PartCount
  /** What may be read of the data, to which several items can refer. */
  dataBytes: ByteCount
  edit: Edit
  ranges: KeptRanges
  largest: Largest
  /** Where the file ends at the earliest: decoders refuse one to whose data an item does not fit. */
  end: number
  /** Turns a box into free space, whose content nothing refers to. */
  free(box: Box): void
}
