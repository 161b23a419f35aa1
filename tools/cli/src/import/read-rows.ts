import { isUtf8 } from 'node:buffer'
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
  /** Whether the file has it in UTF-8; otherwise `text` lacks what could not be decoded. */
  isUtf8: boolean
  /**
   * The cells by the names in the header, undefined if there are more cells; empty for JSON. A name
   * that the header has twice is no cell's: its value is undefined.
   */
  columns: Record<string, string | undefined> | undefined
  /** The share of the file that has been read, from 0 to 1. */
  share: number
}

/** Reads the rows of a file, which may be compressed with gzip (`.gz`). Empty lines are left out. */
export async function* readRows(path: string, format: 'json' | 'csv'): AsyncGenerator<SourceRow> {
  const { size } = await stat(path)
  const file = createReadStream(path)
  const share = () => (size === 0 ? 1 : file.bytesRead / size)
  const input = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  let line = 1
  let begun: { text: string; isUtf8: boolean; line: number; record: OpenRecord } | undefined
  let header: string[] | undefined
  let repeated = new Set<string>()
  for await (const read of splitLines(input)) {
    const { line: first = line, record } = begun ?? {}
    line++
    const text = (begun?.text ?? '') + read.text
    const isRowUtf8 = read.isUtf8 && (begun?.isUtf8 ?? true)
    begun = undefined
    if (record === undefined && text.trim() === '') continue
    if (format === 'json') {
      yield { line: first, text, isUtf8: isRowUtf8, columns: {}, share: share() }
      continue
    }
    const cells = parseCsv(read.text, record)
    if (!Array.isArray(cells)) {
      cells.cell += read.end
      // A CR in a cell ends no line: ids of rows without one follow from the numbers of lines.
      if (read.end === '\r') line--
      begun = { text: text + read.end, isUtf8: isRowUtf8, line: first, record: cells }
      if (text.length > recordLengthMax) throw new UsageError(`Line ${first}: a " is not closed.`)
    } else if (header === undefined) {
      const names = cells.map((name) => name.trim())
      header = names
      repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at))
    } else {
      const columns = Object.fromEntries(
        header.map((name, at) => [name, repeated.has(name) ? undefined : (cells[at] ?? '')]),
      )
      const surplus = cells.slice(header.length).some((cell) => cell.trim() !== '')
      const all = surplus ? undefined : columns
      yield { line: first, text, isUtf8: isRowUtf8, columns: all, share: share() }
    }
  }
  if (begun !== undefined) throw new UsageError(`Line ${begun.line}: a " is not closed.`)
}

/** Longer than any event; a file without lines, or a compressed one, could fill the memory. */
const lineBytesMax = 16 * 1024 * 1024

interface Line extends Pick<SourceRow, 'text' | 'isUtf8'> {
  /** What a cell in quotes has instead of the end of the line: old Macs end lines with CR. */
  end: '\n' | '\r'
}

/**
 * Splits at LF, CRLF and CR only: U+2028 and U+2029, at which `node:readline` also splits, are text
 * in JSON and CSV. Leaves out a byte order mark.
 */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let count = 0
  const decode = (bytes: Buffer, end: Line['end']): Line => {
    count++
    const text = bytes.toString()
    return { text: count === 1 ? text.replace(/^\uFEFF/, '') : text, isUtf8: isUtf8(bytes), end }
  }
  /** The beginning of a line, in several chunks: joining them at each would take quadratic time. */
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of withWholeEnds(input)) {
    let begin = 0
    for (const { 0: found, index } of chunk.toString('latin1').matchAll(/\r\n?|\n/g)) {
      const part = chunk.subarray(begin, index)
      begin = index + found.length
      const end = found === '\r' ? '\r' : '\n'
      yield decode(rest.length === 0 ? part : Buffer.concat([...rest, part]), end)
      rest = []
      restBytes = 0
    }
    if (begin === chunk.length) continue
    rest.push(chunk.subarray(begin))
    restBytes += chunk.length - begin
    if (restBytes > lineBytesMax) {
      const sentence = `Line ${count + 1} is longer than 16 MB: a file has one event in each line.`
      throw new UsageError(sentence)
    }
  }
  if (rest.length > 0) yield decode(Buffer.concat(rest), '\n')
}

const carriageReturn = 0x0d

/** Yields chunks of which none ends between CR and LF. */
async function* withWholeEnds(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const chunk of input) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([...held, chunk])
    const length = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length
    held = length === bytes.length ? [] : [bytes.subarray(length)]
    yield bytes.subarray(0, length)
  }
  yield* held
}

/** A longer record of CSV is a quote that is not closed. */
const recordLengthMax = 1024 * 1024

/** A record of CSV that ends inside quotes. */
interface OpenRecord {
  cells: string[]
  /** The beginning of the next cell, with the ends of its lines. */
  cell: string
}

/**
 * Parses a line of CSV (RFC 4180).
 *
 * @param open the record that the line continues
 */
function parseCsv(line: string, open?: OpenRecord): string[] | OpenRecord {
  const cells = open?.cells ?? []
  let quoted = open?.cell
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
