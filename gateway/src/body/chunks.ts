/**
 * Keeps the chunks of a stream of at most `bytesMax` bytes. A class, because each request creates
 * one, and an object of a class is cheap to create.
 */
export class Chunks {
  /** Bytes that have arrived, whether kept or not. */
  bytes = 0
  readonly #bytesMax: number
  readonly #onKeep: (chunk: Buffer) => void
  readonly #kept: Buffer[] = []

  /** @param options.onKeep called before a chunk is kept; may throw */
  constructor(options: { bytesMax: number; onKeep: (chunk: Buffer) => void }) {
    this.#bytesMax = options.bytesMax
    this.#onKeep = options.onKeep
  }

  /** Keeps a chunk. Once there are too many bytes, discards all chunks and returns false. */
  add(chunk: Buffer): boolean {
    this.bytes += chunk.length
    if (this.bytes > this.#bytesMax) {
      this.#kept.length = 0
      return false
    }
    this.#onKeep(chunk)
    this.#kept.push(chunk)
    return true
  }

  concat(): Buffer {
    const [only] = this.#kept
    return this.#kept.length === 1 && only !== undefined
      ? only
      : Buffer.concat(this.#kept, this.bytes)
  }
}
