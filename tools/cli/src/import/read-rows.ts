import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { UsageError } from '../endpoints.ts'

/** A line of a file of JSON, or a record of a CSV file, which may have several lines. */
export interface SourceRow {
  /** The number of its first line, from 1. */
  line: number
  text: string
  /** The cells by the names in the header, undefined if there are more cells; empty for JSON. */
  columns: Record<string, string> | undefined
  /** The share of the file that has been read, from 0 to 1. */
  share: number
}

/** Reads the rows of a file, which may be compressed with gzip (`.gz`). Empty lines are left out. */
export async function* readRows(path: string, format: 'json' | 'csv'): AsyncGenerator<SourceRow> {
  const { size } = await stat(path)
  const file = createReadStream(path)
  const share = () => (size === 0 ? 1 : file.bytesRead / size)
  const input = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  let line = 0
  let begun: { text: string; line: number } | undefined
  let header: string[] | undefined
  for await (const read of splitLines(input)) {
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
    } else if (header === undefined) header = cells
    else {
      const columns = Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))
      const surplus = cells.slice(header.length).some((cell) => cell.trim() !== '')
      yield { line: first, text, columns: surplus ? undefined : columns, share: share() }
    }
  }
  if (begun !== undefined) throw new UsageError(`Line ${begun.line}: a " is not closed.`)
}

/**
 * Splits UTF-8 at LF and CRLF only: U+2028 and U+2029, at which `node:readline` also splits, are
 * text in JSON and CSV. Leaves out a byte order mark.
 */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of input) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  rest += decoder.decode()
  if (rest !== '') yield rest.replace(/\r$/, '')
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
    // What follows the quote belongs to the cell.
    const end = text.indexOf(',', at)
    cells.push(cell + text.slice(at, end === -1 ? undefined : end))
    if (end === -1) return cells
    at = end + 1
  }
}
