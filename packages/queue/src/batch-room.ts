import type { Frame } from '@intake/contract'

/** What a batch may hold. There is always one frame, however large. */
export interface BatchLimits {
  framesMax: number
  /** Of the compressed frames. */
  gzipBytesMax: number
  /** Of NDJSON, before compression: what an insert of the batch costs ClickHouse. */
  jsonBytesMax: number
}

export interface BatchRoom {
  /** Counts a frame in; false when it does not fit. */
  add(frame: Frame): boolean
  /** How many more frames fit if they are like the largest so far; 0 when the batch is full. */
  left(): number
}

/** Of a frame of which nothing is known yet. */
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
