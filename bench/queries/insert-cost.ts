import { readProcessCpu } from '../cpu.ts'
import { gzipRows, rowsPerInsert } from '../direct-insert.ts'
import { abbaOrder } from '../rounds.ts'
import { untilMerged } from './load.ts'
import type { Server, Tables } from './server.ts'

/** Microseconds of ClickHouse's CPU per row. */
export interface InsertCost {
  tables: Tables
  insert: number
  withMerges: number
}

/** Inserts rows of the default size, 5,000 at a time, into both tables in turn, which are empty before and after. */
export async function measureInsertCost(
  servers: readonly Server[],
  options: { rounds: number; inserts: number },
): Promise<InsertCost[]> {
  const costs: InsertCost[] = []
  for (const server of abbaOrder(servers, options.rounds)) {
    costs.push(await insertRound(server, options.inserts))
  }
  return costs
}

async function insertRound({ sql, pid, tables }: Server, inserts: number): Promise<InsertCost> {
  const bodies = Array.from({ length: inserts }, () => gzipRows())
  const perRow = (seconds: number) => (seconds / (inserts * rowsPerInsert)) * 1e6
  const begin = readProcessCpu(pid)
  for (const gzip of bodies) {
    await sql.insertGzip({ table: 'logs', members: [gzip], rows: rowsPerInsert })
  }
  const inserted = readProcessCpu(pid)
  await untilMerged(sql)
  const merged = readProcessCpu(pid)
  await sql.command('TRUNCATE TABLE intake.logs_raw')
  return { tables, insert: perRow(inserted - begin), withMerges: perRow(merged - begin) }
}
