import { gzipSync } from 'node:zlib'
import { kinds, limits } from '@intake/contract'
import type { Backlogs, ReadBacklogs } from '@intake/queue'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { RowStore } from '../deliver/ports.ts'

const intervalMs = 5_000
/** A turn that expires a little earlier than the next read leaves none out. */
const turnMs = 0.8 * intervalMs
const readTimeoutMs = 10_000
/** Redis takes some milliseconds for so many. */
const framesMax = 20_000

export interface Watermark {
  /** Since it was last stored for every kind, by this worker or, as far as this one knows, another. */
  lateMs(): number
  close(): void
}

/**
 * Stores, every few seconds, up to which moment all accepted records are visible. The stored moment is
 * true whenever it is stored, so workers need not agree; when none runs, it stays.
 *
 * @param options.clockSkewMaxMs how far the clocks of gateways may differ from Redis's
 * @param options.onError called when it could not be stored; it is then late, not wrong
 */
export function startWatermark(options: {
  readBacklogs: ReadBacklogs
  store: RowStore
  clockSkewMaxMs: number
  onError: (error: unknown) => void
  clock?: Clock
  /** The wall clock of this process, in milliseconds since 1970. */
  wallMs?: () => number
}): Watermark {
  const { readBacklogs, store, clockSkewMaxMs, onError } = options
  const { clock = systemClock, wallMs = () => Date.now() } = options
  const closing = new AbortController()
  const { signal } = closing

  let advancedAt = clock.now()

  async function advance(): Promise<void> {
    const reading = readBacklogs({ framesMax, turnMs })
    const backlogs = await withTimeout(reading, readTimeoutMs, 'reading the queues', clock)
    // Another worker does it this time.
    if (backlogs === undefined) return void (advancedAt = clock.now())
    // If one of the two clocks has jumped ahead, the other one holds the watermark back.
    const nowMs = Math.min(backlogs.nowMs, wallMs())
    const visible = visibleUntil({ ...backlogs, nowMs }, clockSkewMaxMs)
    const rows = visible.map((row) => `${JSON.stringify(row)}\n`)
    const members = [gzipSync(rows.join(''))]
    if (rows.length > 0) {
      await store.insertGzip({ table: 'watermark', members, rows: rows.length, signal })
    }
    if (rows.length === kinds.length) advancedAt = clock.now()
  }

  const polling = startPolling({ poll: advance, intervalMs, onError, clock })
  return {
    lateMs: () => clock.now() - advancedAt,
    close() {
      polling.close()
      closing.abort()
    },
  }
}

/**
 * For each kind, the moment before which every acknowledged record had left the queue, by the clock of
 * any gateway and by Redis's. A record that is not in the queue yet arrived at most `acceptanceMs` ago:
 * gateways acknowledge none that takes longer. Nothing for a kind whose queue is too long to look at.
 */
function visibleUntil({ nowMs, queues }: Backlogs, clockSkewMaxMs: number) {
  return kinds.flatMap((kind) => {
    const { oldestMs = Infinity, isOldestExact } = queues[kind]
    if (!isOldestExact) return []
    const untilMs = Math.min(oldestMs, nowMs - limits.acceptanceMs[kind]) - clockSkewMaxMs
    if (untilMs < limits.recordTimeMs.after) return []
    return [{ kind, visible_until: new Date(untilMs).toISOString() }]
  })
}
