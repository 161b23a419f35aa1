import { gunzipSync, gzipSync } from 'node:zlib'
import type { Frame } from '@intake/queue'

/**
 * Returns the rows of a frame, each one line of JSON; empty when its bytes cannot be decompressed.
 */
export function rowsOf(frame: Frame): string[] {
  try {
    return gunzipSync(frame.gzip).toString().split('\n').filter(Boolean)
  } catch {
    return []
  }
}

/** Splits rows into two frames that together contain the same rows, byte for byte. */
export function splitRows(rows: string[]): Frame[] {
  const half = Math.ceil(rows.length / 2)
  return [rows.slice(0, half), rows.slice(half)].map((part) => {
    const ndjson = Buffer.from(part.map((row) => `${row}\n`).join(''))
    const gzip = gzipSync(ndjson, { level: 1 })
    return { rows: part.length, jsonBytes: ndjson.length, gzip }
  })
}
