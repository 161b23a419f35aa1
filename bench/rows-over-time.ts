import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { rowsInserted } from './visible.ts'

/** How many rows were readable at a moment. */
export interface RowsSample {
  /** Milliseconds since 1970. */
  at: number
  rows: number
}

const sampleMs = 50
/**
 * If no row arrives for this time, none will arrive later. The longest pause of a worker between
 * two attempts is shorter: a minute.
 */
const standstillMs = 75_000

/**
 * Waits until this many rows are readable, or until no row has arrived for 75 s. The caller must
 * check whether the right rows have arrived. Resolves to the counts over time.
 */
export async function untilRows(
  { services, owner }: Pick<Bench, 'services' | 'owner'>,
  table: string,
  wanted: number,
): Promise<RowsSample[]> {
  const samples: RowsSample[] = []
  let lastRows = 0
  let lastProgress = performance.now()
  while (performance.now() - lastProgress < standstillMs) {
    owner.signal.throwIfAborted()
    const rows = await rowsInserted(services.sql, table)
    samples.push({ at: Date.now(), rows })
    if (rows >= wanted) break
    if (rows > lastRows) {
      lastRows = rows
      lastProgress = performance.now()
    }
    await pause(sampleMs)
  }
  return samples
}
