import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ClickHouse } from './client.ts'
import type { ClickHouseError } from './errors.ts'
import type { RecordTable } from './tables.ts'

/** A row that ClickHouse refused, kept until a person has replayed or dropped it. */
export interface DeadLetter {
  /** Of the record, or made from the bytes of the row when it has none that can be read. */
  id: string
  table: RecordTable
  /** UTC. */
  failed_at: string
  error_code: number
  /** ClickHouse's own words. They quote the row. */
  error: string
  /** The row as one line of JSON. */
  row: string
}

/** Keeps a refused row. Adding the same row again replaces it. Rejects as `insertGzip`. */
export async function addDeadLetter(
  clickhouse: Pick<ClickHouse, 'insertGzip'>,
  { table, row, refusal }: { table: RecordTable; row: string; refusal: ClickHouseError },
): Promise<void> {
  const now = new Date()
  await write(clickhouse, {
    ver: now.getTime(),
    id: idOf(row),
    table,
    failed_at: now.toISOString(),
    error_code: refusal.code ?? 0,
    error: refusal.serverText ?? refusal.message,
    row,
  })
}

/** All of them without their rows, which may be large; the oldest first. */
export async function listDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<Omit<DeadLetter, 'error' | 'row'>[]> {
  return clickhouse.query(
    'SELECT id, table, failed_at, error_code FROM intake.dead_letters ORDER BY failed_at, id',
  )
}

/** All of them, or the one with this id; the oldest first. */
export async function readDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
  id?: string,
): Promise<DeadLetter[]> {
  return clickhouse.query<DeadLetter>(
    `SELECT * FROM intake.dead_letters
     ${id === undefined ? '' : 'WHERE toString(id) = {id:String}'}
     ORDER BY failed_at, id`,
    id === undefined ? {} : { id },
  )
}

/** Inserts the row into its table again and, once that is confirmed, drops the dead letter. */
export async function replayDeadLetter(clickhouse: ClickHouse, letter: DeadLetter): Promise<void> {
  const members = [gzipSync(`${letter.row}\n`)]
  await clickhouse.insertGzip({ table: letter.table, members, rows: 1 })
  await dropDeadLetter(clickhouse, letter)
}

export async function dropDeadLetter(
  clickhouse: Pick<ClickHouse, 'insertGzip'>,
  letter: DeadLetter,
): Promise<void> {
  // Later than the entry, also when the clock of its worker is ahead of this one.
  const ver = Math.max(Date.now(), Date.parse(`${letter.failed_at.replace(' ', 'T')}Z`) + 1)
  await write(clickhouse, { ...letter, ver, error: '', row: '', is_deleted: 1 })
}

async function write(clickhouse: Pick<ClickHouse, 'insertGzip'>, entry: object): Promise<void> {
  const members = [gzipSync(`${JSON.stringify(entry)}\n`)]
  await clickhouse.insertGzip({ table: 'dead_letters', members, rows: 1 })
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function idOf(row: string): string {
  try {
    const { id } = JSON.parse(row) as { id?: unknown }
    if (typeof id === 'string' && uuid.test(id)) return id
  } catch {
    // Not even JSON: the bytes themselves are the identity.
  }
  const digest = createHash('sha256').update(row).digest('hex')
  return [0, 8, 12, 16, 20].map((at, i) => digest.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}
