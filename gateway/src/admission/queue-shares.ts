import type { RecordKind } from '@intake/contract'
import type { Redis, RedisState } from '@intake/redis'
import { startPolling, systemClock, type Clock } from '@intake/runtime'
import { memoryThresholds } from './admission.ts'
import { createQueuedBytes } from './queued-bytes.ts'

/**
 * Divides the queue among the API keys while workers do not keep up. A key that holds more than
 * twice the memory that is still free for a kind of record is over its share of it. So one key alone
 * fills at most two thirds of the queue, two fill at most two fifths each, and a key that holds
 * little can send until the queue is full. Nobody is over while less than half of Redis's memory is
 * used.
 */
export interface QueueShares {
  /** Counts what a stored frame holds for a key. */
  add(apiKeyId: string, bytes: number): void
  /** The ids of the keys that are over their share for a kind of record, as of the last poll. */
  over(kind: RecordKind): ReadonlySet<string>
  close(): void
}

/** A key may hold this many times the memory that is free. */
const perFree = 2
/**
 * While the oldest waiting frame is younger, workers keep up, and what fills the memory is
 * something else than the queue.
 */
const backlogMsMin = 2_000
const intervalMs = 1_000
const nobody: Record<RecordKind, ReadonlySet<string>> = { logs: new Set(), feedback: new Set() }

/**
 * Starts to count what each API key holds. Nothing is ever subtracted: what a key holds is its part
 * of everything stored since the oldest waiting frame arrived. So frames that are completed, twice
 * or by nobody, and processes that are killed, cause no error that remains.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.oldestWaiting resolves to the arrival of the oldest record in an unclaimed frame,
 * in milliseconds since 1970
 * @param options.isShared whether there are several API keys. A key that is alone may use the whole
 * queue
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function startQueueShares(options: {
  redis: Redis
  state: () => Pick<RedisState, 'memoryUsed'> | undefined
  oldestWaiting: () => Promise<number | undefined>
  isShared: () => boolean
  onError: (error: unknown) => void
  clock?: Clock
  wallMs?: () => number
}): QueueShares {
  const { redis, state, oldestWaiting, isShared, clock = systemClock } = options
  const { wallMs = () => Date.now() } = options
  const queued = createQueuedBytes({ redis, wallMs })
  let over = nobody

  async function findOver(): Promise<typeof nobody> {
    if (!isShared()) return nobody
    const oldestMs = await oldestWaiting()
    if (oldestMs === undefined) await queued.forget()
    const { memoryUsed = 0 } = state() ?? {}
    const allowed = (kind: RecordKind) => perFree * (memoryThresholds[kind].refuse - memoryUsed)
    // No key can hold more than all. For feedback, more is allowed than for logs.
    if (memoryUsed <= allowed('logs')) return nobody
    if (oldestMs === undefined || wallMs() - oldestMs < backlogMsMin) return nobody
    const { total, byKey } = await queued.since(oldestMs)
    const overOf = (kind: RecordKind) => {
      const isOver = (bytes: number) => (memoryUsed * bytes) / total > allowed(kind)
      return new Set([...byKey].flatMap(([id, bytes]) => (isOver(bytes) ? id : [])))
    }
    return { logs: overOf('logs'), feedback: overOf('feedback') }
  }

  const polling = startPolling({
    async poll() {
      await queued.send()
      over = await findOver()
    },
    intervalMs,
    onError(error) {
      // What is not known refuses nobody; the limit for all keys remains.
      over = nobody
      options.onError(error)
    },
    clock,
  })

  return { add: queued.add, over: (kind) => over[kind], close: polling.close }
}
