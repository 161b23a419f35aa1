import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ClickHouse } from './client.ts'
import type { ClickHouseError } from './errors.ts'
import type { RecordTable } from './tables.ts'

/** The identity of a dead letter: that of its record, as far as it can be read. */
interface RowIdentity {
  bundle_identifier: string
  /** UTC; 1970 when it cannot be read. */
  time: string
  /** Of the record, or made from the bytes of the row when the row has no identity. */
  id: string
  device_uuid: string
}

/** A row that ClickHouse refused, kept until an operator has replayed or dropped it. */
export interface DeadLetter extends RowIdentity {
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
    table,
    ...parseRowIdentity(row),
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
    `SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code
     FROM intake.dead_letters ORDER BY failed_at, id`,
  )
}

/** All of them, or those with this id, which is one unless two devices chose the same; the oldest first. */
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
const isoTime = /^(20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const noTime = '1970-01-01T00:00:00.000Z'
const noUuid = '00000000-0000-0000-0000-000000000000'

/** What cannot be read of the identity is left empty; without an id, the bytes of the row make one. */
function parseRowIdentity(row: string): RowIdentity {
  const { bundle_identifier, time, id, device_uuid } = parseObject(row)
  return {
    bundle_identifier: typeof bundle_identifier === 'string' ? bundle_identifier : '',
    time: typeof time === 'string' && isoTime.test(time) ? time : noTime,
    id: typeof id === 'string' && uuid.test(id) ? id : hashId(row),
    device_uuid: typeof device_uuid === 'string' && uuid.test(device_uuid) ? device_uuid : noUuid,
  }
}

function parseObject(row: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(row)) as Record<string, unknown>
  } catch {
    return {}
  }
}

function hashId(row: string): string {
  const digest = createHash('sha256').update(row).digest('hex')
  return [0, 8, 12, 16, 20].map((at, i) => digest.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}
