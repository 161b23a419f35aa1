import { gzipSync } from 'node:zlib'
import { kinds, limits } from '@intake/contract'
import type { Backlogs, ReadBacklogs } from '@intake/queue'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { RowStore } from '../deliver/ports.ts'

const intervalMs = 5_000
/**
 * How long one worker alone may store the watermark. A turn ends before its worker reads again, so
 * that it can take the next one, too.
 */
const turnMs = 0.8 * intervalMs
const readTimeoutMs = 10_000
/** The maximum number of frames that are read. Redis needs some milliseconds to return so many. */
const framesMax = 20_000

export type Watermark = ReturnType<typeof startWatermark>

/**
 * Stores, every few seconds, the moment up to which all accepted records are visible. A stored
 * moment never becomes wrong, so several workers may store one. While no worker runs, it does not
 * advance.
 *
 * @param options.clockSkewMaxMs how far the clocks of gateways may differ from Redis's
 * @param options.onError called when the watermark could not be stored; it is then late, not wrong
 */
export function startWatermark(options: {
  readBacklogs: ReadBacklogs
  store: RowStore
  clockSkewMaxMs: number
  onError: (error: unknown) => void
  clock?: Clock
  /** The wall clock of this process, in milliseconds since 1970. */
  wallMs?: () => number
}) {
  const { readBacklogs, store, clockSkewMaxMs, onError } = options
  const { clock = systemClock, wallMs = () => Date.now() } = options
  const closing = new AbortController()
  const { signal } = closing

  let advancedAt = clock.now()

  async function advance(): Promise<void> {
    const reading = readBacklogs({ framesMax, turnMs })
    const backlogs = await withTimeout(reading, readTimeoutMs, 'reading the queues', clock)
    // Another worker has the turn and stores it, or Redis has lost its data or is of another
    // installation, which is reported elsewhere.
    if (backlogs === undefined) return void (advancedAt = clock.now())
    // A clock that jumps forward, here or in Redis, must not advance the watermark.
    const nowMs = Math.min(backlogs.nowMs, wallMs())
    const visible = visibleUntil({ ...backlogs, nowMs }, clockSkewMaxMs)
    const rows = visible.map((row) => `${JSON.stringify(row)}\n`)
    const members = [gzipSync(rows.join(''))]
    if (rows.length > 0) {
      await store.insertRows({ table: 'watermark', members, rows: rows.length, signal })
    }
    if (rows.length === kinds.length) advancedAt = clock.now()
  }

  const polling = startPolling({ poll: advance, intervalMs, onError, clock })
  return {
    /** Since all watermarks were last stored, by this worker or by the one that has the turn. */
    lateMs: () => clock.now() - advancedAt,
    close(): void {
      polling.close()
      closing.abort()
    },
  }
}

/**
 * Every acknowledged record that arrived before the moment has left the queue, by the clock of
 * every gateway: the permitted skew is subtracted. A record on its way to the queue arrived within
 * `acceptanceMs`; gateways acknowledge none that takes longer. A queue that is too long to read has
 * no entry.
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
