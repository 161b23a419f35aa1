import type { Alert, AlertStore } from '@intake/access'
import { insertLines, type ClickHouse } from '@intake/clickhouse'
import { alertSender, changeDeliveryId, type DeliverySink } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { isDue, readChanges, removalOf, rowOf, type AlertChange } from './changes.ts'
import { createEvaluation, readSituation, type Situation } from './evaluate.ts'

const intervalMs = 60_000
/** A turn ends before its console polls again, so that the same console can take the next one. */
const turnMs = 0.9 * intervalMs
const redisTimeoutMs = 5_000

type Listed = Awaited<ReturnType<AlertStore['list']>>

/**
 * A change that was stored is announced for so long, in case the console that stored it was killed
 * before. If all alerts change every minute, that is less than the queue knows as delivered.
 */
const announcedMs = 90 * 60_000

/**
 * Returns the function that evaluates the alerts that are due, stores their states, and announces
 * each change that the receiver of the application is told about. The state before comes from
 * ClickHouse and the number of a change is the id of its message, so a process that is killed at any
 * moment leads neither to a second message nor to a missing one.
 *
 * @param options.reader may read the views; has connections of its own
 * @param options.store may insert into the table of alerts
 * @param options.onError called when some alerts could not be counted: their state is unknown
 */
export function createAlertRun(options: {
  alerts: Pick<AlertStore, 'list'>
  reader: Pick<ClickHouse, 'query'>
  store: Pick<ClickHouse, 'insertRows'>
  sink: Pick<DeliverySink, 'add'>
  onError: (error: unknown) => void
  situation?: () => Promise<Situation>
}): () => Promise<void> {
  const { alerts, reader, store, sink, onError } = options
  const { situation: read = () => readSituation(reader) } = options
  const evaluate = createEvaluation({ reader, onError })

  const save = (rows: readonly Record<string, unknown>[]) =>
    insertLines(store, { table: 'alerts', lines: rows.map((row) => JSON.stringify(row)) })

  async function announce(changes: readonly Pick<AlertChange, 'id' | 'change'>[]): Promise<void> {
    const ids = new Set(changes.map(({ id, change }) => changeDeliveryId(id, change)))
    if (ids.size > 0) await sink.add([...ids].map((id) => ({ id, sender: alertSender })))
  }

  async function run({ alerts: all, unreadable }: Listed): Promise<void> {
    const situation = await read()
    const { nowMs } = situation
    const { last, messages } = await readChanges(reader, new Date(nowMs - announcedMs))
    const ids = new Set([...all.map(({ id }) => id), ...unreadable])
    const removed = [...last.values()].filter(({ id }) => !ids.has(id))
    await save(removed.map((one) => removalOf(one, nowMs)))
    const evaluatedAt = ({ id }: Alert) => last.get(id)?.evaluated_at ?? ''
    const due = all
      .filter((alert) => isDue(alert, last.get(alert.id), nowMs))
      .toSorted((a, b) => evaluatedAt(a).localeCompare(evaluatedAt(b)))
    for await (const evaluated of evaluate(due, situation)) {
      const rows = evaluated.map((one) => rowOf(one, last.get(one.alert.id), nowMs))
      await save(rows)
      const isNew = ({ id, change }: (typeof rows)[number]) => change !== last.get(id)?.change
      await announce(rows.filter((row) => row.is_message === 1 && isNew(row)))
    }
    await announce(messages)
  }

  return async () => {
    const listed = await withTimeout(alerts.list(), redisTimeoutMs, 'reading the alerts')
    await run(listed).catch((error: unknown) => {
      // Without alerts, only the states of removed ones are late.
      if (listed.alerts.length > 0 || listed.unreadable.length > 0) throw error
    })
  }
}

const turnKey = '{intake}:alerts:turn'

/** Returns `takeTurn` of `startAlerts`. */
export const createTurn = (redis: Redis) => async (ms: number) =>
  (await redis.set(turnKey, '1', 'PX', ms, 'NX')) === 'OK'

/**
 * Evaluates the alerts every minute, in one console at a time.
 *
 * @param options.takeTurn resolves to whether this console has the turn, for so many milliseconds
 */
export function startAlerts(options: {
  run: () => Promise<void>
  takeTurn: (ms: number) => Promise<boolean>
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): void } {
  const { run, takeTurn, onError, clock = systemClock } = options
  return startPolling({
    async poll() {
      if (await withTimeout(takeTurn(turnMs), redisTimeoutMs, 'taking the turn', clock)) await run()
    },
    intervalMs,
    onError,
    clock,
  })
}
