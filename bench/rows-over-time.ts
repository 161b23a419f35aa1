import type { Bench } from './bench.ts'
import { until } from './until.ts'
import { rowsInserted } from './visible.ts'

/** How many rows could be read at a moment. */
export interface RowsSample {
  /** Milliseconds since 1970. */
  at: number
  rows: number
}

const sampleMs = 50
/** A worker may pause for a minute between two attempts. */
const progressMs = 180_000

/** Waits until that many rows can be read; resolves to what could be read on the way. */
export async function untilRows(
  { services }: Bench,
  table: string,
  wanted: number,
): Promise<RowsSample[]> {
  const samples: RowsSample[] = []
  await until(
    `${wanted} rows are in ${table}`,
    async () => {
      const rows = await rowsInserted(services.sql, table)
      samples.push({ at: Date.now(), rows })
      return rows >= wanted
    },
    { timeoutMs: progressMs, everyMs: sampleMs },
  )
  return samples
}
