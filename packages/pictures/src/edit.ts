/**
 * The changes to a file. Positions are those in the unchanged file. Nothing is copied: bytes are
 * overwritten where they are, and then the kept ranges move towards the beginning.
 */
export class Edit {
  /** The beginning and the end of each kept range, in pairs. */
  readonly #kept: number[] = []
  readonly #zeros: number[] = []
  readonly #sets: { at: number; bytes: Uint8Array }[] = []
  length = 0

  /** Keeps a range. Ranges must be given in ascending order and must not overlap. */
  keep(from: number, to: number): void {
    this.length += to - from
    if (this.#kept.at(-1) === from) this.#kept[this.#kept.length - 1] = to
    else this.#kept.push(from, to)
  }

  zero(from: number, to: number): void {
    if (from < to) this.#zeros.push(from, to)
  }

  /** Overwrites the bytes from `at` on. `apply` does this after it has zeroed ranges. */
  set(at: number, bytes: Uint8Array): void {
    this.#sets.push({ at, bytes })
  }

  /** Whether the edit changes nothing in a file of `bytes` bytes. */
  isEmpty(bytes: number): boolean {
    return this.length === bytes && this.#zeros.length === 0 && this.#sets.length === 0
  }

  /** Applies the changes in place. Returns the beginning of `bytes` with the kept ranges. */
  apply(bytes: Buffer): Buffer {
    for (let i = 0; i < this.#zeros.length; i += 2)
      bytes.fill(0, this.#zeros[i], this.#zeros[i + 1])
    for (const set of this.#sets) bytes.set(set.bytes, set.at)
    let end = 0
    for (let i = 0; i < this.#kept.length; i += 2) {
      const from = this.#kept[i] as number
      const to = this.#kept[i + 1] as number
      if (from !== end) bytes.copyWithin(end, from, to)
      end += to - from
    }
    return bytes.subarray(0, end)
  }
}
