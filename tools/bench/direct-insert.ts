import { gzipSync } from 'node:zlib'
import { uuidv7 } from 'uuidv7'
import { logRow } from './baselines/row.ts'
import type { Bench } from './bench.ts'
import { createCorpus, defaultBodySize } from './corpus.ts'
import { openAccount } from './accounting.ts'
import { pidsOf, untilAtRest } from './measure.ts'
import type { Variant } from './variants.ts'

export interface DirectInsert {
  /** Microseconds of ClickHouse's CPU per row, merges included. */
  cpuPerRow: number
  /** Rows per second when one insert runs at a time. */
  rowsPerSecond: number
}

const rowsPerInsert = 5_000

/**
 * Inserts rows of the default size into Intake's own table. The body of each insert is one gzip
 * member.
 *
 * @param intake must be idle during the inserts
 */
export async function insertDirectly(
  bench: Bench,
  intake: Variant,
  rows: number,
): Promise<DirectInsert> {
  const { sql, clickhouse } = bench.services
  const inserts = Math.ceil(rows / rowsPerInsert)
  const bodies = Array.from({ length: inserts }, () => gzipRows())
  await untilAtRest(bench, [clickhouse.pid])
  const account = openAccount(pidsOf(bench, intake))
  const begin = performance.now()
  for (const gzip of bodies) {
    await sql.insertRows({ table: 'logs', members: [gzip], rows: rowsPerInsert })
  }
  const seconds = (performance.now() - begin) / 1_000
  await untilAtRest(bench, [clickhouse.pid])
  const { cpu } = account.read()
  await sql.command('TRUNCATE TABLE intake.logs_raw')
  const total = inserts * rowsPerInsert
  return {
    cpuPerRow: (cpu.clickhouse / total) * 1e6,
    rowsPerSecond: total / seconds,
  }
}

const corpus = createCorpus({ size: defaultBodySize, seed: 4 })

/**
 * The rows of one insert as a gzip member. Their ids are consecutive, so they compress better than
 * the ids that Intake makes.
 */
function gzipRows(): Buffer {
  const lines = Array.from({ length: rowsPerInsert }, (_, index) => {
    const body = corpus[index % corpus.length] as (typeof corpus)[number]
    return `${JSON.stringify(logRow(uuidv7(), body))}\n`
  })
  return gzipSync(lines.join(''), { level: 1 })
}
