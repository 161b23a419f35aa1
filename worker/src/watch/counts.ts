import type { ClickHouse } from '@intake/clickhouse'
import { countNames, refreshCounts, type CountName } from '@intake/records'
import { startPolling, systemClock, type Clock } from '@intake/runtime'

const intervalMs = 60_000
/** The minimum time between two runs of a count, by this worker or another. */
const pausesMs: Record<CountName, number> = { hours: 60_000, catalogue: 60 * 60_000 }
/**
 * The pause after a run, as a multiple of its duration: counting takes at most 1/20 of the time.
 */
const pausePerRun = 20

/**
 * Keeps the counts of hours and the catalogue up to date. Any worker may count; each worker first
 * checks whether another worker has counted lately.
 *
 * @param options.reader may read the views; has connections of its own
 * @param options.store may insert into the tables of counts
 * @param options.onError called when counting failed; the counts are then late, not wrong
 */
export function startCounts(options: {
  reader: Pick<ClickHouse, 'query' | 'lines'>
  store: Pick<ClickHouse, 'insertGzip'>
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): void } {
  const { reader, store, onError, clock = systemClock } = options
  const notBefore: Record<CountName, number> = { hours: 0, catalogue: 0 }

  async function refresh(name: CountName): Promise<void> {
    if (clock.now() < notBefore[name]) return
    const [last] = await reader.query<{ age: number }>(
      `SELECT dateDiff('millisecond', counted_at, now64(3, 'UTC')) AS age FROM intake.counted
       WHERE name = {name:String}`,
      { name },
    )
    if (last !== undefined && last.age < 0.9 * pausesMs[name]) return
    const began = clock.now()
    await refreshCounts({ reader, store, name })
    notBefore[name] = clock.now() + pausePerRun * (clock.now() - began)
  }

  return startPolling({
    async poll() {
      for (const name of countNames) await refresh(name)
    },
    intervalMs,
    onError,
    clock,
  })
}
