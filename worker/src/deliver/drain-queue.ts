import type { BatchLimits, ClaimedFrame, FrameConsumer } from '@intake/queue/consume'
import { pause } from '@intake/runtime'
import { nextPauseMs } from './back-off.ts'
import { storeBatch, type StoreOptions } from './store-batch.ts'

const postponeMinMs = 5_000
const postponeMaxMs = 10 * 60_000

/**
 * Takes a batch, inserts it, completes it. If no frame of a batch could be stored, pauses before
 * the next one, doubled up to a minute. Resolves when the consumer has been closed.
 */
export async function drainQueue(options: {
  consumer: Pick<FrameConsumer, 'take'>
  limits: BatchLimits
  store: StoreOptions
}): Promise<void> {
  const { consumer, limits, store } = options
  const { signal, events, kind, clock } = store
  let pauseMs = 0
  for (;;) {
    events.waitsForFrames(kind)
    const batch = await consumer.take(limits)
    if (batch === undefined) return
    events.taken(kind, batch.frames)
    try {
      const postponed = await storeBatch(batch.frames, store)
      await Promise.all([...postponed].map((frame) => batch.postpone(frame, delayMs(frame))))
      events.postponed(kind, postponed.size)
      await batch.complete()
      pauseMs = postponed.size < batch.frames.length ? 0 : nextPauseMs(pauseMs)
    } catch (error) {
      if (!signal.aborted) throw error
      await batch.release()
    }
    events.batchEnded(kind)
    if (pauseMs > 0) await pause(pauseMs, { clock, signal }).catch(() => {})
  }
}

/**
 * Doubles with each attempt. `attempts` also counts redeliveries after a worker has died, so a
 * frame that has outlived several workers waits longer.
 */
function delayMs({ attempts }: ClaimedFrame): number {
  return Math.min(postponeMinMs * 2 ** Math.max(attempts - 1, 0), postponeMaxMs)
}
