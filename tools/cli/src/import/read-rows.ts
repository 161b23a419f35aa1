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
  /** The names in the header and the cells of CSV; empty for JSON. */
  header: readonly string[]
  cells: readonly string[]
  /** The share of the file that has been read, from 0 to 1. */
  share: number
}

/** Longer than any event; a file without lines, or a compressed one, could fill the memory. */
const lineLengthMax = 16 * 1024 * 1024
/** A longer record of CSV is a quote that is not closed. */
const recordLengthMax = 1024 * 1024

/**
 * Reads the rows of a file, which may be compressed with gzip (`.gz`). Empty lines are left out.
 *
 * @throws {TypeError} if the file is not UTF-8
 */
export async function* readRows(path: string, format: 'json' | 'csv'): AsyncGenerator<SourceRow> {
  const { size } = await stat(path)
  const file = createReadStream(path)
  const input = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  let line = 0
  /** A record whose last line is not read yet. */
  let begun: { line: number; lines: string[]; length: number } | undefined
  let header: string[] | undefined
  for await (const text of splitLines(input)) {
    line++
    if (begun === undefined && text.trim() === '') continue
    const { lines, length, line: first } = begun ?? { line, lines: [], length: 0 }
    lines.push(text)
    begun = { line: first, lines, length: length + text.length }
    if (format === 'csv' && begun.length > recordLengthMax) throw notClosed(first)
    // Parsing a cell in quotes at each of its lines would take quadratic time.
    if (lines.length > 1 && !quotesEnd.test(text)) continue
    const record = lines.join('\n')
    const cells = format === 'csv' ? parseCsv(record) : []
    if (cells === undefined) continue
    begun = undefined
    if (format === 'csv' && header === undefined) header = cells.map((name) => name.trim())
    else {
      const share = size === 0 ? 1 : file.bytesRead / size
      yield { line: first, text: record, header: header ?? [], cells, share }
    }
  }
  if (begun !== undefined) throw notClosed(begun.line)
}

const notClosed = (line: number) => new UsageError(`Line ${line}: a " is not closed.`)

/**
 * Splits at LF and CRLF only: U+2028 and U+2029, at which `node:readline` also splits, are text in
 * JSON and CSV. Leaves out a byte order mark.
 */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let count = 0
  let rest = ''
  for await (const chunk of input) {
    const text = decoder.decode(chunk, { stream: true })
    // A line in many chunks is searched only at its end: at each, it would take quadratic time.
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) {
      const lines = (rest + text.slice(0, end)).split(/\r?\n/).slice(0, -1)
      rest = ''
      count += lines.length
      yield* lines
    }
    rest += text.slice(end)
    if (rest.length > lineLengthMax) {
      const sentence = `Line ${count + 1} is longer than 16 MB: a file has one event in each line.`
      throw new UsageError(sentence)
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/** A line that begins within quotes, and in which they end. */
const quotesEnd = /^[^"]*(?:""[^"]*)*"(?!")/

/** Parses a record of CSV (RFC 4180); undefined if it ends within quotes. */
function parseCsv(record: string): string[] | undefined {
  // What follows a closing quote belongs to the cell.
  const form = /(?:"([^"]*(?:""[^"]*)*)("|$))?([^,]*)(,|$)/y
  const cells: string[] = []
  for (let isMore = true; isMore;) {
    const [, quoted = '', closed, plain = '', end] = form.exec(record) ?? []
    if (closed === '') return undefined
    cells.push(quoted.replaceAll('""', '"') + plain)
    isMore = end === ','
  }
  return cells
}
