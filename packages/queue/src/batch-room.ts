import type { Frame } from './frame.ts'

/** The limits of a batch. A frame that alone exceeds them forms a batch of its own. */
export interface BatchLimits {
  framesMax: number
  /** Compressed size of all frames together. */
  compressedBytesMax: number
  /** NDJSON bytes of all frames, before compression: they determine what the insert costs. */
  jsonBytesMax: number
}

/** The size that `left` assumes for a frame before the first one is added, in bytes. */
const bytesGuess = 1024 * 1024

export function createBatchRoom(limits: BatchLimits) {
  const { framesMax, compressedBytesMax, jsonBytesMax } = limits
  let frames = 0
  let compressedBytes = 0
  let jsonBytes = 0
  let largest = { compressed: 1, json: 1 }

  return {
    /** Adds a frame; returns false, without adding it, when it does not fit. */
    add({ bytes: { length: compressed }, jsonBytes: json }: Frame): boolean {
      const fits =
        frames < framesMax &&
        compressedBytes + compressed <= compressedBytesMax &&
        jsonBytes + json <= jsonBytesMax
      if (!fits && frames > 0) return false
      frames++
      compressedBytes += compressed
      jsonBytes += json
      largest = {
        compressed: Math.max(largest.compressed, compressed),
        json: Math.max(largest.json, json),
      }
      return true
    },
    /** How many more frames fit if they are as large as the largest so far. */
    left(): number {
      const { compressed, json } =
        frames === 0 ? { compressed: bytesGuess, json: bytesGuess } : largest
      const byBytes = Math.min(
        (compressedBytesMax - compressedBytes) / compressed,
        (jsonBytesMax - jsonBytes) / json,
      )
      const left = Math.min(framesMax - frames, Math.floor(byBytes))
      return frames === 0 ? Math.max(left, 1) : Math.max(left, 0)
    },
  }
}
