import type { Edit } from './edit.ts'
import { PictureError } from './picture-error.ts'

/**
 * The result of walking a file: the size of its largest image, and the edit that removes the
 * metadata.
 */
export interface Walked {
  width: number
  height: number
  edit: Edit
}

/** Remembers the size of the largest image. */
export class Largest {
  width = 0
  height = 0

  add(width: number, height: number): void {
    if (width * height <= this.width * this.height) return
    this.width = width
    this.height = height
  }
}

/**
 * The maximum number of parts. Real files have at most some thousand segments, chunks, blocks,
 * boxes, strips or samples.
 */
export const partsMax = 100_000

/** Limits the number of parts of a file, because each part costs more than its bytes. */
export class PartCount {
  #left = partsMax

  /** @throws {PictureError} when there are too many */
  add(): void {
    if (--this.#left < 0) throw tooManyParts()
  }
}

export function tooManyParts(): PictureError {
  return new PictureError('it has too many parts')
}
