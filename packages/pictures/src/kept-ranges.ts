import type { Edit } from './edit.ts'

/**
 * The ranges of a file that something refers to. They may overlap, and may be added in any order.
 * In formats that work with offsets everything else is filled with zeros, so that no offset
 * changes. The number of ranges needs no limit of its own, because each belongs to a part that
 * `PartCount` has counted.
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
   * @param endMin the earliest position at which the file may end
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
