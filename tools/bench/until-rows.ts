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
export function untilRows(
  { services, owner }: Pick<Bench, 'services' | 'owner'>,
  table: string,
  wanted: number,
): Promise<number> {
  return untilCount(owner, () => rowsInserted(services.sql, table), wanted)
}

/** Like `untilRows`, with another count. */
export async function untilCount(
  owner: Bench['owner'],
  count: () => Promise<number>,
  wanted: number,
): Promise<number> {
  let last = 0
  let lastProgress = performance.now()
  while (performance.now() - lastProgress < standstillMs) {
    owner.signal.throwIfAborted()
    const counted = await count()
    if (counted >= wanted) return counted
    if (counted > last) {
      last = counted
      lastProgress = performance.now()
    }
    await pause(sampleMs)
  }
  return last
}
