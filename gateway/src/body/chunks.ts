/** The chunks of a stream, kept while they fit. */
export interface Chunks {
  /** Bytes that have arrived, whether kept or not. */
  readonly bytes: number
  /** Keeps a chunk; returns false, and keeps nothing any more, once there are too many bytes. */
  add(chunk: Buffer): boolean
  /** All bytes; to be called once, after the end of the stream. */
  concat(): Buffer
}

/** @param options.onKeep called before a chunk is kept; may throw */
export function createChunks(options: {
  bytesMax: number
  onKeep: (chunk: Buffer) => void
}): Chunks {
  const { bytesMax, onKeep } = options
  const kept: Buffer[] = []
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    add(chunk) {
      bytes += chunk.length
      if (bytes > bytesMax) {
        kept.length = 0
        return false
      }
      onKeep(chunk)
      kept.push(chunk)
      return true
    },
    concat: () => Buffer.concat(kept, bytes),
  }
}
