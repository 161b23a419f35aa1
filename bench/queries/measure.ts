import { median } from '../statistics.ts'
import { whileEventsArrive } from './arrivals.ts'
import { ask, type QueryReport } from './ask.ts'
import { lookups, readCookbook } from './cookbook.ts'
import { applications, type Fleet } from './fleet.ts'
import type { Server } from './server.ts'

export interface MeasuredQuery {
  name: string
  milliseconds: number
  /** User and system time of all threads that executed the query. */
  cpuMilliseconds: number
  rows: number
  bytes: number
}

export interface Measured {
  queries: MeasuredQuery[]
  storage: Storage
  /** Rows in the table, repeats included, when the measurement began. */
  rows: number
}

export interface Storage {
  bytesPerRow: number
  indexBytesPerRow: number
  parts: number
  /** How many rows the merges have written per inserted row. */
  rewrites: number
}

const runs = 5
const periodDays = 30

/** Executes every query five times while events arrive. Returns the median of each query. */
export async function measureQueries(server: Server, fleet: Fleet): Promise<Measured> {
  const { sql, analystUrl } = server
  const params = { ...periodOf(fleet), ...(await oneFeedback(server)) }
  const storage = await readStorage(server)
  const rows = await countRaw(server)
  const { result: reports, rows: arrived } = await whileEventsArrive(sql, fleet, async () => {
    const asked: [name: string, reports: QueryReport[]][] = []
    for (const query of [...readCookbook(), ...lookups]) {
      const ofQuery: QueryReport[] = []
      for (let run = 0; run < runs; run++) {
        ofQuery.push(await ask(query, { url: analystUrl, params }))
      }
      asked.push([query.name, ofQuery])
    }
    return asked
  })
  const cpu = await readCpu(server)
  const queries = reports.map(([name, ofQuery]) => medians(name, ofQuery, cpu))
  await requireRows(server, fleet.rows + arrived)
  return { queries, storage, rows }
}

function medians(
  name: string,
  reports: readonly QueryReport[],
  cpu: ReadonlyMap<string, number>,
): MeasuredQuery {
  const middle = (value: (report: QueryReport) => number) => median(reports.map(value))
  return {
    name,
    milliseconds: middle(({ milliseconds }) => milliseconds),
    cpuMilliseconds: middle(({ queryId }) => cpu.get(queryId) ?? NaN),
    rows: middle(({ rows }) => rows),
    bytes: middle(({ bytes }) => bytes),
  }
}

/** Milliseconds of CPU that each query of the analyst used, by the id of the query. */
async function readCpu({ sql }: Server): Promise<ReadonlyMap<string, number>> {
  await sql.command('SYSTEM FLUSH LOGS query_log')
  const rows = await sql.query<{ id: string; ms: number }>(
    `SELECT query_id AS id,
  (ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1000 AS ms
FROM system.query_log WHERE type = 'QueryFinish' AND user = 'analyst'`,
  )
  return new Map(rows.map(({ id, ms }) => [id, ms]))
}

function periodOf(fleet: Fleet) {
  const at = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
  return {
    app: applications[0],
    from: at(fleet.endMs - periodDays * 86_400_000),
    to: at(fleet.endMs),
    key: 'key_3',
  }
}

/**
 * Reads the parameters of the lookups from a feedback in the middle of the table. An event in
 * `logs` has the same id.
 */
async function oneFeedback({ sql }: Server): Promise<Record<string, string>> {
  const rows = await sql.query<Record<string, string>>(
    `SELECT id, id AS feedback, device_uuid AS device, unique_user_id AS user, request_id AS request
FROM intake.feedback ORDER BY id LIMIT 1 OFFSET (SELECT toUInt64(count() / 2) FROM intake.feedback)`,
  )
  return rows[0] ?? {}
}

async function countRaw({ sql }: Server): Promise<number> {
  const [row] = await sql.query<{ n: number }>('SELECT count() AS n FROM intake.logs_raw')
  return row?.n ?? 0
}

async function readStorage({ sql }: Server): Promise<Storage> {
  const [row] = await sql.query<Storage>(
    `SELECT sum(bytes_on_disk) / sum(rows) AS bytesPerRow,
  sum(secondary_indices_compressed_bytes) / sum(rows) AS indexBytesPerRow, count() AS parts,
  (SELECT value FROM system.events WHERE event = 'MergedRows') / sum(rows) AS rewrites
FROM system.parts WHERE active AND database = 'intake' AND table = 'logs_raw'`,
  )
  if (row === undefined) throw new Error('The table has no parts')
  return row
}

/**
 * Checks that every event is visible exactly once.
 *
 * @throws {Error} if an event is missing or doubled
 */
async function requireRows({ sql }: Server, expected: number): Promise<void> {
  const [row] = await sql.query<{ visible: number; ids: number }>(
    'SELECT count() AS visible, uniqExact(sipHash64(id)) AS ids FROM intake.logs',
  )
  if (row?.visible === expected && row.ids === expected) return
  throw new Error(`Of ${expected} events ${row?.visible} are visible, with ${row?.ids} ids`)
}
