import { gzipSync } from 'node:zlib'
import { kinds, limits } from '@intake/contract'
import type { Backlogs, ReadBacklogs } from '@intake/queue'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { RowStore } from '../deliver/ports.ts'

const intervalMs = 5_000
/**
 * How long a turn lasts. One worker at a time has the turn to store the watermark. A turn ends
 * before its worker reads again, so that the same worker can take the next turn, too.
 */
const turnMs = 0.8 * intervalMs
const readTimeoutMs = 10_000
/** The maximum number of frames that are read. Redis needs some milliseconds to return so many. */
const framesMax = 20_000

export interface Watermark {
  /**
   * Milliseconds since the watermarks of all kinds were last stored. While another worker has the
   * turn, this worker assumes that the other worker stores them.
   */
  lateMs(): number
  close(): void
}

/**
 * Stores, every few seconds, the moment up to which all accepted records are visible. A stored
 * moment never becomes wrong, so it does no harm if several workers store one. While no worker
 * runs, the watermark does not advance.
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
}): Watermark {
  const { readBacklogs, store, clockSkewMaxMs, onError } = options
  const { clock = systemClock, wallMs = () => Date.now() } = options
  const closing = new AbortController()
  const { signal } = closing

  let advancedAt = clock.now()

  async function advance(): Promise<void> {
    const reading = readBacklogs({ framesMax, turnMs })
    const backlogs = await withTimeout(reading, readTimeoutMs, 'reading the queues', clock)
    // `backlogs` is undefined if another worker has the turn and stores the watermark, or if Redis
    // has lost its data or is of another installation, which is reported elsewhere.
    if (backlogs === undefined) return void (advancedAt = clock.now())
    // Uses the earlier of Redis's time and the time of this process. So a clock that jumps forward
    // does not advance the watermark too far.
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
    lateMs: () => clock.now() - advancedAt,
    close() {
      polling.close()
      closing.abort()
    },
  }
}

/**
 * Returns a moment for each kind: every acknowledged record that arrived before the moment has left
 * the queue. The permitted clock skew is subtracted, so that the moment is correct by the clock of
 * every gateway. A record that is still on its way to the queue arrived within the last
 * `acceptanceMs`, because gateways acknowledge no record that takes longer. A kind whose queue is
 * too long to read has no entry.
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
