import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream'
import { UsageError } from '../endpoints.ts'

/** A line of a file of JSON, or a record of a CSV file, which may have several lines. */
export interface SourceRow {
  /** The number of its first line, from 1. */
  line: number
  text: string
  /** The cells by the names in the header; empty for JSON. */
  columns: Record<string, string>
  /** The share of the file that has been read, from 0 to 1. */
  share: number
}

/** Reads the rows of a file, which may be compressed with gzip (`.gz`). Empty lines are left out. */
export async function* readRows(path: string, format: 'json' | 'csv'): AsyncGenerator<SourceRow> {
  const { size } = await stat(path)
  const file = createReadStream(path)
  const share = () => (size === 0 ? 1 : file.bytesRead / size)
  const input = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  const lines = createInterface({ input, crlfDelay: Infinity })
  // An error of the stream would otherwise end the lines as if the file ended there.
  let failure: Error | undefined
  const fail = (error: Error) => (failure = error)
  file.on('error', fail)
  input.on('error', fail)
  let line = 0
  let begun: { text: string; line: number } | undefined
  let header: string[] | undefined
  try {
    for await (const read of lines) {
      line++
      const text = begun === undefined ? read : `${begun.text}\n${read}`
      const first = begun?.line ?? line
      begun = undefined
      if (text.trim() === '') continue
      if (format === 'json') {
        yield { line: first, text, columns: {}, share: share() }
        continue
      }
      const cells = parseCsv(text)
      if (cells === undefined) {
        begun = { text, line: first }
        if (text.length > recordLengthMax) throw new UsageError(`Line ${first}: a " is not closed.`)
      } else if (header === undefined) header = cells.map((cell) => cell.replace(/^\uFEFF/, ''))
      else {
        const columns = Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))
        yield { line: first, text, columns, share: share() }
      }
    }
  } finally {
    lines.close()
    file.destroy()
  }
  if (failure !== undefined) throw failure
  if (begun !== undefined) throw new UsageError(`Line ${begun.line}: a " is not closed.`)
}

/** A longer record of CSV is a quote that is not closed. */
const recordLengthMax = 1024 * 1024

/** Parses a record of CSV (RFC 4180); undefined if it ends inside quotes. */
function parseCsv(text: string): string[] | undefined {
  const cells: string[] = []
  for (let at = 0; ;) {
    if (text[at] !== '"') {
      const end = text.indexOf(',', at)
      cells.push(text.slice(at, end === -1 ? undefined : end))
      if (end === -1) return cells
      at = end + 1
      continue
    }
    let cell = ''
    for (at++; ;) {
      const end = text.indexOf('"', at)
      if (end === -1) return undefined
      cell += text.slice(at, end)
      at = end + 1
      if (text[at] !== '"') break
      cell += '"'
      at++
    }
    cells.push(cell)
    if (text[at] !== ',') return cells
    at++
  }
}
