import { KeptRanges } from '../kept-ranges.ts'
import { PictureError } from '../picture-error.ts'
import { fourLetters, Reader } from '../reader.ts'
import { ByteCount, Walk } from '../walk.ts'

/** A box of the ISO base media file format (ISO/IEC 14496-12). */
export interface Box {
  type: number
  from: number
  content: number
  /** The position at which the box ends; for data that was cut off, the end of the file. */
  to: number
}

const free = Buffer.from('free')
const mediaData = fourLetters('mdat')

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

  /**
   * Yields the boxes between two positions. A remainder that is too short for a box is ignored, and
   * so is what follows the boxes of a file: some phones append other data to a picture.
   */
  *boxesIn(from: number, to: number, { isFile = false } = {}): Generator<Box> {
    for (let at = from; at + 8 <= to;) {
      this.parts.add()
      const box = readBox(this.reader, at, to)
      if (box === undefined && isFile) return
      if (box === undefined) throw new PictureError('a box of it has no valid size')
      yield box
      at = box.to
    }
  }
}

/** Undefined if it does not fit. Only media data may extend beyond `end`: the file was cut off. */
function readBox(reader: Reader, at: number, end: number): Box | undefined {
  const type = reader.u32(at + 4)
  const short = reader.u32(at)
  const content = at + (short === 1 ? 16 : 8)
  if (content > end) return undefined
  const size = short === 1 ? reader.u64(at + 8) : short
  // A size of zero means that the box extends to the end of its container.
  const to = short === 0 ? end : at + size
  if (to < content || (to > end && type !== mediaData)) return undefined
  return { type, from: at, content, to: Math.min(to, end) }
}

/**
 * Boxes with fixed fields, and the sizes in bytes that their content can have. A longer box could
 * contain a text. For example, a longer `dinf` could contain the address of another file. A `dinf`
 * of 28 bytes says that the data is in the same file.
 */
const fixedBytes: ReadonlyMap<number, readonly number[]> = new Map(
  Object.entries({
    dinf: [28],
    pitm: [6, 8],
    ispe: [12],
    pasp: [8],
    clap: [32],
    irot: [1],
    imir: [1],
    rloc: [12],
    lsel: [2],
    a1op: [1],
    clli: [4],
    mdcv: [24],
    amve: [8],
  }).map(([name, bytes]) => [fourLetters(name), bytes]),
)
/** Also true for a type that is not in `fixedBytes`. */
export const hasFixedBytes = ({ type, content, to }: Box) =>
  fixedBytes.get(type)?.includes(to - content) ?? true
