import { Edit } from './edit.ts'
import { PictureError } from './picture-error.ts'

/** The state of walking a file: the size of its largest image, and the edit without metadata. */
export class Walk {
  readonly bytes: Buffer
  readonly edit = new Edit()
  /** Limits the parts of the whole file. */
  readonly parts = new PartCount()
  width = 0
  height = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  measure(width: number, height: number): void {
    if (width * height <= this.width * this.height) return
    this.width = width
    this.height = height
  }
}

/**
 * The maximum number of parts of a file: segments, chunks, blocks, boxes, entries of tables, strips
 * or samples. A real file has at most a few thousand.
 */
const partsMax = 20_000

/** Limits the number of parts of a file, because each part takes time in addition to its bytes. */
export class PartCount {
  #left = partsMax

  /** @throws {PictureError} when there are too many, so before anything is done for them */
  add(count = 1): void {
    this.#left -= count
    if (this.#left < 0) throw new PictureError('it has too many parts')
  }
}

/** Limits the bytes that are read from a file. The file may refer to the same bytes repeatedly. */
export class ByteCount {
  #left: number

  constructor(max: number) {
    this.#left = max
  }

  /** @throws {PictureError} when there are too many, so before they are read */
  add(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new PictureError('it refers to the same bytes too often')
  }
}
