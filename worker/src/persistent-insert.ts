import { setTimeout as pause } from 'node:timers/promises'
import type { RecordKind } from '@intake/contract'
import type { Logger } from '@intake/runtime'
import type { Merge } from './coalescer.ts'
import type { RowStore } from './ports.ts'

const pauseMinMs = 1_000
const pauseMaxMs = 60_000

/**
 * Inserts a merge and repeats it until ClickHouse has confirmed it, however long that takes; the
 * pauses double from one second to a minute. While it repeats, the jobs stay in hand, so no more
 * are fetched than can be held. Rejects only after `signal`; the rows may then be stored or not.
 */
export async function insertUntilConfirmed(options: {
  store: RowStore
  kind: RecordKind
  merge: Merge
  signal: AbortSignal
  log: Logger
}): Promise<void> {
  const { store, kind, merge, signal, log } = options
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    signal.throwIfAborted()
    try {
      await store.insertGzip({ table: kind, ...merge, signal })
      return
    } catch (err) {
      signal.throwIfAborted()
      log.error({ err, kind, rows: merge.rows }, 'insert failed; it will be repeated')
    }
    await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal })
  }
}
