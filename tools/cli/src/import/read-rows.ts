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
  let begun: { text: string; line: number; record: OpenRecord } | undefined
  let header: string[] | undefined
  for await (const read of splitLines(input)) {
    line++
    const { line: first = line, record } = begun ?? {}
    const text = begun === undefined ? read : `${begun.text}\n${read}`
    begun = undefined
    if (record === undefined && text.trim() === '') continue
    if (format === 'json') {
      yield { line: first, text, columns: {}, share: share() }
      continue
    }
    const cells = parseCsv(read, record)
    if (!Array.isArray(cells)) {
      begun = { text, line: first, record: cells }
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

/** Longer than any event; a file without lines, or a compressed one, could fill the memory. */
const lineLengthMax = 16 * 1024 * 1024

/**
 * Splits UTF-8 at LF and CRLF only: U+2028 and U+2029, at which `node:readline` also splits, are
 * text in JSON and CSV. Leaves out a byte order mark.
 */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let count = 1
  for await (const chunk of input) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
    count += lines.length
    if (rest.length > lineLengthMax)
      throw new UsageError(`Line ${count} is longer than 16 MB: a file has one event in each line.`)
  }
  rest += decoder.decode()
  if (rest !== '') yield rest.replace(/\r$/, '')
}

/** A longer record of CSV is a quote that is not closed. */
const recordLengthMax = 1024 * 1024

/** A record of CSV that ends inside quotes. */
interface OpenRecord {
  cells: string[]
  /** The beginning of the next cell. */
  cell: string
}

/**
 * Parses a line of CSV (RFC 4180).
 *
 * @param open the record that the line continues
 */
function parseCsv(line: string, open?: OpenRecord): string[] | OpenRecord {
  const cells = open?.cells ?? []
  let quoted = open && `${open.cell}\n`
  for (let at = 0; ;) {
    if (quoted === undefined && line[at] === '"') {
      quoted = ''
      at++
    }
    while (quoted !== undefined) {
      const end = line.indexOf('"', at)
      if (end === -1) return { cells, cell: quoted + line.slice(at) }
      quoted += line.slice(at, end)
      at = end + 1
      if (line[at] !== '"') break
      quoted += '"'
      at++
    }
    // What follows the quote belongs to the cell.
    const end = line.indexOf(',', at)
    cells.push((quoted ?? '') + line.slice(at, end === -1 ? undefined : end))
    if (end === -1) return cells
    quoted = undefined
    at = end + 1
  }
}
