import { createWaitingEntries } from '@intake/access'
import { insertLines, type ClickHouse } from '@intake/clickhouse'
import type { Redis } from '@intake/redis'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'

const intervalMs = 5_000
/** Limits the wait for Redis; an insert has a timeout of its own. */
const timeoutMs = 60_000
const rowsPerInsert = 200

/**
 * Moves what operators have changed from Redis to `intake.journal`. Several workers may do so at
 * once: a row that is stored twice counts once.
 *
 * @param options.onError called when entries could not be moved; they are then late, not lost
 */
export function startJournal(options: {
  redis: Redis
  store: Pick<ClickHouse, 'insertRows'>
  isConfirmed: () => boolean
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): void } {
  const { redis, store, isConfirmed, onError, clock = systemClock } = options
  const waiting = createWaitingEntries({ redis })

  async function moveAll(): Promise<void> {
    for (;;) {
      const rows = await waiting.peek(rowsPerInsert)
      if (rows.length === 0) return
      await insertLines(store, { table: 'journal', lines: rows })
      await waiting.remove(rows)
    }
  }

  return startPolling({
    async poll() {
      // Otherwise the entries could be those of another installation.
      if (isConfirmed()) await withTimeout(moveAll(), timeoutMs, 'moving the journal')
    },
    intervalMs,
    onError,
    clock,
  })
}
