import { readProcessCpu } from '../cpu.ts'
import { gzipRows, rowsPerInsert } from '../direct-insert.ts'
import { untilMerged } from './load.ts'
import type { Server } from './server.ts'

/** Microseconds of ClickHouse's CPU per row. */
export interface InsertCost {
  insert: number
  withMerges: number
}

/**
 * Inserts rows of the default size, 5,000 at a time, into a table that is empty before and after.
 */
export async function measureInsertCost(
  server: Server,
  options: { rounds: number; inserts: number },
): Promise<InsertCost[]> {
  const costs: InsertCost[] = []
  for (let round = 0; round < options.rounds; round++) {
    costs.push(await insertRound(server, options.inserts))
  }
  return costs
}

async function insertRound({ sql, pid }: Server, inserts: number): Promise<InsertCost> {
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
  return { insert: perRow(inserted - begin), withMerges: perRow(merged - begin) }
}
