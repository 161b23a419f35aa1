import type { Alert, AlertStore } from '@intake/access'
import { insertLines, isoTime, type ClickHouse } from '@intake/clickhouse'
import { alertSender, changeDeliveryId, type DeliverySink } from '@intake/queue/consume'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { isDue, readLastChanges, rowOf, type AlertChange } from './changes.ts'
import { createEvaluation, readSituation, type Situation } from './evaluate.ts'

const intervalMs = 60_000
/** A turn ends before its console polls again, so that the same console can take the next one. */
const turnMs = 0.9 * intervalMs
const redisTimeoutMs = 5_000

/**
 * The last change is announced again for so long, in case the console that stored it was killed
 * before. The queue knows for longer what it has delivered.
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

  const save = (rows: readonly object[]) =>
    insertLines(store, { table: 'alerts', lines: rows.map((row) => JSON.stringify(row)) })

  async function announce(
    changes: readonly Pick<AlertChange, 'id' | 'change' | 'is_message'>[],
  ): Promise<void> {
    const messages = changes.filter((one) => one.is_message === 1)
    const deliveries = messages.map(({ id, change }) => changeDeliveryId(id, change))
    if (messages.length > 0) await sink.add(deliveries.map((id) => ({ id, sender: alertSender })))
  }

  async function run(all: readonly Alert[]): Promise<void> {
    const situation = await read()
    const { nowMs } = situation
    const last = await readLastChanges(reader)
    const isRecent = ({ since }: AlertChange) => Date.parse(isoTime(since)) >= nowMs - announcedMs
    await announce([...last.values()].filter(isRecent))
    const ids = new Set(all.map(({ id }) => id))
    const removed = [...last.values()].filter(({ id }) => !ids.has(id))
    const evaluatedAt = new Date(nowMs).toISOString()
    await save(removed.map((one) => ({ ...one, evaluated_at: evaluatedAt, is_removed: 1 })))
    const lastAt = ({ id }: Alert) => last.get(id)?.evaluated_at ?? ''
    const due = all
      .filter((alert) => isDue(alert, last.get(alert.id), nowMs))
      .toSorted((a, b) => lastAt(a).localeCompare(lastAt(b)))
    for await (const evaluated of evaluate(due, situation)) {
      const rows = evaluated.map((one) => rowOf(one, last.get(one.alert.id), nowMs))
      await save(rows)
      await announce(rows.filter(({ id, change }) => change !== last.get(id)?.change))
    }
  }

  return async () => {
    const listed = await withTimeout(alerts.list(), redisTimeoutMs, 'reading the alerts')
    await run(listed).catch((error: unknown) => {
      // Without alerts, only the states of removed ones are late.
      if (listed.length > 0) throw error
    })
  }
}

const turnKey = '{intake}:alerts:turn'

/** Calls `run` every minute, in one console at a time. */
export function startAlerts(options: {
  redis: { set(key: string, value: string, px: 'PX', ms: number, nx: 'NX'): Promise<unknown> }
  run: () => Promise<void>
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): void } {
  const { redis, run, onError, clock = systemClock } = options
  return startPolling({
    async poll() {
      const taking = redis.set(turnKey, '1', 'PX', turnMs, 'NX')
      if ((await withTimeout(taking, redisTimeoutMs, 'taking the turn', clock)) === 'OK')
        await run()
    },
    intervalMs,
    onError,
    clock,
  })
}
