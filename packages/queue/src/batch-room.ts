import type { Frame } from './frame.ts'

/** The limits of a batch. A frame that alone exceeds them forms a batch of its own. */
export interface BatchLimits {
  framesMax: number
  /** Compressed size of all frames together. */
  gzipBytesMax: number
  /** NDJSON bytes of all frames, before compression: they determine what the insert costs. */
  jsonBytesMax: number
}

export interface BatchRoom {
  /** Adds a frame; returns false, without adding it, when it does not fit. */
  add(frame: Frame): boolean
  /**
   * How many more frames fit if they are as large as the largest so far; 0 when the batch is full.
   */
  left(): number
}

/** The size that `left` assumes for a frame before the first one is added, in bytes. */
const bytesGuess = 1024 * 1024

export function createBatchRoom({ framesMax, gzipBytesMax, jsonBytesMax }: BatchLimits): BatchRoom {
  let frames = 0
  let gzipBytes = 0
  let jsonBytes = 0
  let largest = { gzip: 1, json: 1 }

  return {
    add({ gzip, jsonBytes: bytes }) {
      const fits =
        frames < framesMax &&
        gzipBytes + gzip.length <= gzipBytesMax &&
        jsonBytes + bytes <= jsonBytesMax
      if (!fits && frames > 0) return false
      frames++
      gzipBytes += gzip.length
      jsonBytes += bytes
      largest = { gzip: Math.max(largest.gzip, gzip.length), json: Math.max(largest.json, bytes) }
      return true
    },
    left() {
      const { gzip, json } = frames === 0 ? { gzip: bytesGuess, json: bytesGuess } : largest
      const byBytes = Math.min((gzipBytesMax - gzipBytes) / gzip, (jsonBytesMax - jsonBytes) / json)
      const left = Math.min(framesMax - frames, Math.floor(byBytes))
      return frames === 0 ? Math.max(left, 1) : Math.max(left, 0)
    },
  }
}
