import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { rowsInserted } from './visible.ts'

const sampleMs = 50
/**
 * A worker pauses for at most a minute between two attempts. So if no row arrives for this time,
 * none will arrive later.
 */
const standstillMs = 75_000

/**
 * Waits until this many rows are readable, or until no row has arrived for 75 s. The caller must
 * check whether the right rows have arrived. Resolves to the number of readable rows.
 */
export async function untilRows(
  { services, owner }: Pick<Bench, 'services' | 'owner'>,
  table: string,
  wanted: number,
): Promise<number> {
  let lastRows = 0
  let lastProgress = performance.now()
  while (performance.now() - lastProgress < standstillMs) {
    owner.signal.throwIfAborted()
    const rows = await rowsInserted(services.sql, table)
    if (rows >= wanted) return rows
    if (rows > lastRows) {
      lastRows = rows
      lastProgress = performance.now()
    }
    await pause(sampleMs)
  }
  return lastRows
}
