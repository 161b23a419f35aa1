import type { Edit } from './edit.ts'

/**
 * The ranges of a file that are kept, in any order; they may overlap. The bytes between them become
 * zeros, so that offsets remain valid. Each belongs to a part that `PartCount` has counted.
 */
export class KeptRanges {
  readonly #ranges: [from: number, to: number][] = []
  readonly #bytes: number

  /** @param bytes the size of the file; ranges beyond it are ignored */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  add(from: number, to: number): void {
    const end = Math.min(to, this.#bytes)
    if (from >= end) return
    const last = this.#ranges.at(-1)
    if (last !== undefined && last[1] === from) last[1] = end
    else this.#ranges.push([from, end])
  }

  /**
   * Zeroes the bytes between the ranges, and cuts off the bytes after the last range.
   *
   * @param endMin bytes before this position are not cut off
   */
  keepOnly(edit: Edit, endMin = 0): void {
    this.#ranges.sort(([one], [other]) => one - other)
    let end = 0
    for (const [from, to] of this.#ranges) {
      edit.zero(end, from)
      end = Math.max(end, to)
    }
    const last = Math.min(Math.max(end, endMin), this.#bytes)
    edit.zero(end, last)
    edit.keep(0, last)
  }
}
