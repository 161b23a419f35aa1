import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CsvError, parse } from 'csv-parse'
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

const rows = {
  bom: true,
  raw: true,
  record_delimiter: ['\n', '\r\n'],
  skip_empty_lines: true,
  relax_column_count: true,
}
const parsers = {
  // A line is one cell: no JSON has this character.
  json: { ...rows, delimiter: '\0', quote: false, max_record_size: 16 * 1024 * 1024 },
  // A longer record is a quote that is not closed.
  csv: { ...rows, relax_quotes: true, max_record_size: 1024 * 1024 },
} as const

interface ParsedRecord {
  record: string[]
  raw: string
}

/**
 * Reads the rows of a file, which may be compressed with gzip (`.gz`). Empty lines are left out.
 *
 * @throws {TypeError} if the file is not UTF-8
 */
export async function* readRows(path: string, format: 'json' | 'csv'): AsyncGenerator<SourceRow> {
  const { size } = await stat(path)
  const file = createReadStream(path)
  const input = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  const records = pipeline(input, checkUtf8, parse(parsers[format]), () => {})
  let header: string[] | undefined
  let nextLine = 1
  try {
    for await (const { record, raw } of records as AsyncIterable<ParsedRecord>) {
      // Empty lines before a record, and the end of its last line, are parts of `raw`.
      const line = nextLine + raw.search(/[^\r\n]|$/)
      const text = raw.trim().replaceAll('\r\n', '\n')
      nextLine = line + text.split('\n').length
      if (text === '') continue
      if (format === 'csv' && header === undefined) header = record.map((name) => name.trim())
      else {
        const share = size === 0 ? 1 : file.bytesRead / size
        const cells = format === 'csv' ? record : []
        yield { line, text, header: header ?? [], cells, share }
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(error.message)
    throw error
  }
}

async function* checkUtf8(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of input) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
