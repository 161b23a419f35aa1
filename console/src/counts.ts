import type { ClickHouse } from '@intake/clickhouse'
import { countNames, refreshCounts, type CountName } from '@intake/records'
import { startPolling, systemClock, type Clock } from '@intake/runtime'
import { addGauge, type Registry } from '@intake/runtime/process'

const intervalMs = 60_000
/** The longest that `waitPerRun` leads to, between runs of the same console or of different ones. */
const pauseMaxMs: Record<CountName, number> = { hours: intervalMs, catalogue: 60 * 60_000 }
/**
 * The pause is this multiple of the duration of the last run, from one minute to `pauseMaxMs`: the
 * catalogue of a small installation knows new applications within a minute, even on a slow machine.
 */
const waitPerRun = 60
/**
 * The pause after a run, successful or not, as a multiple of its duration. So each count takes at
 * most 1/20 of the time. What `refreshCounts` counts late, for a limited time in a run, counts less:
 * it must not delay all others for hours.
 */
const pausePerRun = { shared: 20, late: 3 }
const lateMs: Record<CountName, number> = { hours: 15 * 60_000, catalogue: 4 * 60 * 60_000 }
const lateCheckMs = 30_000

export function registerCountMetrics(
  registry: Registry,
  { ageMs }: Pick<ReturnType<typeof startCounts>, 'ageMs'>,
): void {
  addGauge(registry, {
    name: 'intake_counted_age_seconds',
    help: 'Time since the hours, or the catalogue, were last counted (shared).',
    labels: ['name'],
    read: () =>
      countNames.flatMap((name) => {
        const age = ageMs(name)
        return age === undefined ? [] : [[{ name }, age / 1_000] as [object, number]]
      }),
  })
}

/**
 * Keeps two counts of records up to date: `hours` (per hour) and `catalogue` (per day). Each runs
 * independently, so that a failure of one does not delay the other. Any console may count, but first
 * checks whether another one has counted lately.
 *
 * @param options.reader may read the views; has connections of its own
 * @param options.store may insert into the tables of counts
 * @param options.onError called when something could not be counted; it is then late, not wrong
 */
export function startCounts(options: {
  reader: Pick<ClickHouse, 'query' | 'lines'>
  store: Pick<ClickHouse, 'insertRows'>
  onError: (error: unknown) => void
  /** Called every half minute while a count is late, whatever the reason, with how late it is. */
  onLate?: (detail: string) => void
  clock?: Clock
}) {
  const { reader, store, onError, onLate = () => undefined, clock = systemClock } = options
  const startedAt = clock.now()
  /** When each count was last made, in milliseconds of `clock.now()`. */
  const countedAt = new Map<CountName, number>()
  const notBefore: Record<CountName, number> = { hours: 0, catalogue: 0 }
  const lastRunMs = new Map<CountName, number>()

  async function refresh(name: CountName): Promise<void> {
    if (clock.now() < notBefore[name]) return
    const began = clock.now()
    let spentLateMs = 0
    try {
      const [last] = await reader.query<{ age: number }>(
        `SELECT dateDiff('millisecond', counted_at, now64(3, 'UTC')) AS age FROM intake.counted
         WHERE name = {name:String}`,
        { name },
      )
      if (last !== undefined) countedAt.set(name, clock.now() - last.age)
      const wanted = waitPerRun * (lastRunMs.get(name) ?? 0)
      const pauseMs = Math.min(pauseMaxMs[name], Math.max(intervalMs, wanted))
      if (last !== undefined && Math.abs(last.age) < 0.9 * pauseMs) return
      const ranAt = clock.now()
      await refreshCounts({ reader, store, name, onLate: (ms) => (spentLateMs = ms), clock })
      lastRunMs.set(name, clock.now() - ranAt)
      countedAt.set(name, clock.now())
    } finally {
      const sharedMs = Math.max(0, clock.now() - began - spentLateMs)
      const pauseMs = pausePerRun.shared * sharedMs + pausePerRun.late * spentLateMs
      // A pause shorter than the interval is not set. It would only delay the polls before the
      // first success, which follow each other quickly, for example while ClickHouse is not ready.
      if (pauseMs > intervalMs) notBefore[name] = clock.now() + pauseMs
    }
  }

  const checkAge = async () => {
    for (const name of countNames) {
      const minutes = Math.floor((clock.now() - (countedAt.get(name) ?? startedAt)) / 60_000)
      if (minutes * 60_000 >= lateMs[name])
        onLate(`the ${name} have not been counted for ${minutes} minutes`)
    }
  }
  const pollings = [
    ...countNames.map((name) =>
      startPolling({ poll: () => refresh(name), intervalMs, onError, clock }),
    ),
    startPolling({ poll: checkAge, intervalMs: lateCheckMs, onError, clock }),
  ]
  return {
    /** Milliseconds since a count was last made; undefined if that is not known yet. */
    ageMs(name: CountName): number | undefined {
      const at = countedAt.get(name)
      return at === undefined ? undefined : clock.now() - at
    },
    close(): void {
      for (const polling of pollings) polling.close()
    },
  }
}
