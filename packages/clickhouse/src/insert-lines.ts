import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ClickHouse, InsertRows } from './client.ts'

/** Rows are compressed in pieces of about this many characters. */
const memberLength = 1024 * 1024
/** Other threads compress, so that many rows do not block the process. */
const compress = promisify(gzip)

/** Stores lines of JSON with one insert, like `insertRows`. Without lines it does nothing. */
export async function insertLines(
  store: Pick<ClickHouse, 'insertRows'>,
  { lines, ...insert }: { lines: readonly string[] } & Pick<InsertRows, 'table' | 'signal'>,
): Promise<void> {
  if (lines.length === 0) return
  const members: Buffer[] = []
  let piece = ''
  for (const [index, line] of lines.entries()) {
    piece += `${line}\n`
    if (piece.length < memberLength && index < lines.length - 1) continue
    members.push(await compress(piece))
    piece = ''
  }
  await store.insertRows({ ...insert, members, rows: lines.length })
}
