import { KeptRanges } from '../kept-ranges.ts'
import { Reader } from '../reader.ts'
import { ByteCount, Walk } from '../walk.ts'
import type { Box } from './boxes.ts'

const free = Buffer.from('free')

export class HeifWalk extends Walk {
  readonly reader = new Reader(this.bytes, 'big-endian')
  /** Several items can refer to the same bytes, so a small file could otherwise take long. */
  readonly dataBytes = new ByteCount(this.bytes.length)
  readonly ranges = new KeptRanges(this.bytes.length)
  /** Decoders refuse a file that ends before this position, too early for the data of an item. */
  end = 0

  /** Turns a box into free space. Its content is zeroed, except where another range covers it. */
  free(box: Box): void {
    this.ranges.add(box.from, box.content)
    this.edit.set(box.from + 4, free)
  }
}
