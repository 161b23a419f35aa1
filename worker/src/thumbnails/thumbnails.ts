import type { ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'
import { startPolling, systemClock, type Clock, type Logger, type Registry } from '@intake/runtime'
import { createDecoder, DecoderMissingError, type Decoder } from './decoder-process.ts'
import { examineFeedback } from './examine-feedback.ts'
import { findUnexamined, type UnexaminedFeedback } from './find-feedback.ts'
import { createThumbnailMetrics } from './metrics.ts'

export interface Thumbnails {
  /**
   * Feedback has become visible, so its pictures can be examined.
   *
   * @param receivedAtMs when the oldest of it arrived, in milliseconds since 1970; undefined if
   *   that is not known: it is found with the next catch-up
   */
  arrived(receivedAtMs: number | undefined): void
  close(): void
}

/** Feedback that arrives within this time is looked for together. */
const gatherMs = 2_000
const intervalMs = 60_000
/**
 * How often, and how far back, feedback is looked for that no worker has examined when it arrived:
 * because a worker was killed, or ran without thumbnails.
 */
const catchUp = { everyMs: 60 * 60_000, backMs: 30 * dayMs }
/** The pauses before the next attempts for a picture that failed. Then it gets its error. */
const pausesMs = [60_000, 10 * 60_000]
const help = 'docs/operations/thumbnails-late.md'

/**
 * Makes thumbnails of pictures when their feedback has become visible, one at a time, in a process
 * of its own. Nothing waits for it, and no failure of it affects a record. Several workers at once
 * do no harm.
 *
 * @param options.reader may read the views
 * @param options.store may insert into the table of facts
 * @param options.onError called when ClickHouse or the object store failed; it is tried again
 */
export function startThumbnails(options: {
  reader: Pick<ClickHouse, 'query'>
  store: Pick<ClickHouse, 'insertGzip'>
  objects: Pick<ObjectStore, 'get' | 'put'>
  metrics: Registry
  log: Logger
  onError: (error: unknown) => void
  decoder?: Decoder
  clock?: Clock
  wallMs?: () => number
}): Thumbnails {
  const { log, onError, decoder = createDecoder(), clock = systemClock } = options
  const { wallMs = () => Date.now() } = options
  const count = createThumbnailMetrics(options.metrics)
  let isClosed = false
  let isMissing = false
  /** The arrival of the oldest feedback that has to be looked for, since 1970. */
  let sinceMs = Infinity
  let catchUpAt = clock.now()
  let wakeTimer: ReturnType<Clock['setTimeout']> | undefined
  const retries = new Map<string, { feedback: UnexaminedFeedback; failed: number; at: number }>()

  async function examine(feedback: UnexaminedFeedback, failed: number): Promise<void> {
    const pauseMs = pausesMs[failed]
    const isLastAttempt = pauseMs === undefined
    const isDone = await examineFeedback(feedback, { ...options, decoder, count, isLastAttempt })
    if (isDone || isLastAttempt) retries.delete(feedback.id)
    else retries.set(feedback.id, { feedback, failed: failed + 1, at: clock.now() + pauseMs })
  }

  /** Examines the feedback that arrived since `fromMs`. After a failure it is looked for again. */
  async function examineSince(fromMs: number): Promise<void> {
    try {
      for await (const feedback of findUnexamined(options.reader, new Date(fromMs))) {
        if (isClosed) return
        if (!retries.has(feedback.id)) await examine(feedback, 0)
      }
    } catch (error) {
      sinceMs = Math.min(sinceMs, fromMs)
      throw error
    }
  }

  async function examineAll(): Promise<void> {
    if (clock.now() >= catchUpAt) {
      catchUpAt = clock.now() + catchUp.everyMs
      sinceMs = Math.min(sinceMs, wallMs() - catchUp.backMs)
    }
    while (sinceMs !== Infinity && !isMissing && !isClosed) {
      const fromMs = sinceMs
      sinceMs = Infinity
      await examineSince(fromMs)
    }
    for (const { feedback, failed, at } of [...retries.values()]) {
      if (at <= clock.now() && !isMissing && !isClosed) await examine(feedback, failed)
    }
  }

  async function poll(): Promise<void> {
    try {
      await examineAll()
    } catch (error) {
      if (!(error instanceof DecoderMissingError)) throw error
      isMissing = true
      log.warn({ err: error, help }, 'pictures get no thumbnails: sharp cannot be loaded')
    } finally {
      decoder.end()
    }
  }

  const polling = startPolling({ poll, intervalMs, onError, clock })
  return {
    arrived(receivedAtMs = Infinity) {
      if (isMissing) return
      sinceMs = Math.min(sinceMs, receivedAtMs)
      wakeTimer ??= clock.setTimeout(() => {
        wakeTimer = undefined
        polling.pollNow()
      }, gatherMs)
    },
    close() {
      isClosed = true
      clock.clearTimeout(wakeTimer)
      polling.close()
      decoder.end()
    },
  }
}
