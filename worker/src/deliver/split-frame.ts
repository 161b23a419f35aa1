import type { Frame } from '@intake/queue'
import { compress, decompress } from '@intake/queue/frame'

/** Returns each row as a line of JSON; empty when the bytes cannot be decompressed. */
export function rowsOf(frame: Frame): string[] {
  try {
    return decompress(frame).toString().split('\n').filter(Boolean)
  } catch {
    return []
  }
}

/** Splits rows into two frames that together contain the same rows, byte for byte. */
export function splitRows(rows: string[]): Frame[] {
  const half = Math.ceil(rows.length / 2)
  return [rows.slice(0, half), rows.slice(half)].map((part) => {
    const ndjson = Buffer.from(part.map((row) => `${row}\n`).join(''))
    return { rows: part.length, jsonBytes: ndjson.length, ...compress(ndjson) }
  })
}
