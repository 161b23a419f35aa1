import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { Logger, Registry } from '@intake/runtime/process'
import {
  createDecoder,
  DecoderMissingError,
  type Decoder,
  type DecoderEndedError,
} from './decoder-process.ts'
import type { ExamineOptions } from './examine-feedback.ts'
import { createThumbnailMetrics } from './metrics.ts'
import { createWorkList } from './work-list.ts'

export interface Thumbnails {
  /**
   * Call it when feedback has become visible, so that its pictures are examined. Workers report
   * that every few seconds, so one query finds several feedback.
   *
   * @param receivedAtMs when the oldest of this feedback arrived, in milliseconds since 1970
   */
  arrived(receivedAtMs: number): void
  /**
   * Why this console makes no thumbnails; undefined if it makes them, or has not had a picture yet.
   * The reason remains until the console is started again.
   */
  missing(): string | undefined
  /** See `Decoder.confinement`. */
  confinement(): string | undefined
  /** Resolves when ClickHouse and the object store get no more requests, or after three seconds. */
  close(): Promise<void>
}

/** The interval at which due work is looked for. ClickHouse is queried only if work is due. */
const intervalMs = 60_000
const closeTimeoutMs = 3_000
/** Maximum number of kinds of failures of the decoder that are logged. */
const kindsMax = 10
const sharpMissing = 'sharp cannot be loaded'
const help = 'docs/operations/thumbnails-late.md'

/**
 * Makes thumbnails of pictures when their feedback has become visible, one at a time, in a separate
 * process. Nothing waits for a thumbnail, and a failure does not affect any record. Several consoles
 * may do this at the same time.
 *
 * @param options.reader may read the views
 * @param options.store may insert into the table of facts
 * @param options.onError called when ClickHouse or the object store failed; the work is tried again
 */
export function startThumbnails(
  options: Pick<ExamineOptions, 'reader' | 'store' | 'objects'> & {
    metrics: Registry
    log: Logger
    onError: (error: unknown) => void
    decoder?: Decoder
    clock?: Clock
  },
): Thumbnails {
  const { reader, store, objects, metrics, log, onError } = options
  const { decoder = createDecoder(), clock = systemClock } = options
  let isClosed = false
  let isMissing = false
  const workList = createWorkList({
    reader,
    store,
    objects,
    decoder,
    clock,
    onError,
    count: createThumbnailMetrics(metrics),
    isClosed: () => isClosed,
    onDecoderEnded: reportOnce(log),
  })
  let running = Promise.resolve()

  async function examineAll(): Promise<void> {
    if (isMissing) return
    try {
      await workList.examineAll()
    } catch (error) {
      if (!(error instanceof DecoderMissingError)) throw error
      isMissing = true
      log.warn({ err: error, help }, 'pictures get no thumbnails: sharp cannot be loaded')
    } finally {
      decoder.end()
    }
  }

  const poll = () => (running = examineAll())
  const polling = startPolling({ poll, intervalMs, onError, clock })
  return {
    arrived(receivedAtMs) {
      if (isMissing) return
      workList.addSince(receivedAtMs)
      polling.pollNow()
    },
    missing: () => (isMissing ? sharpMissing : undefined),
    confinement: () => decoder.confinement,
    async close() {
      isClosed = true
      polling.close()
      decoder.end()
      // Work that fails during the close is not done by this console; another one finds it.
      await withTimeout(running, closeTimeoutMs, 'ending the thumbnails', clock).catch(() => {})
    },
  }
}

/**
 * Logs the first failure of each kind, for a limited number of kinds. The limit is necessary,
 * because a malicious picture may control the process and make up kinds.
 */
function reportOnce(log: Logger): (error: DecoderEndedError) => void {
  const kinds = new Set<string>()
  return (error) => {
    const kind = error.cause instanceof Error ? error.cause.message : error.message
    if (kinds.has(kind) || kinds.size === kindsMax) return
    kinds.add(kind)
    log.warn({ err: error, help }, 'a picture could not be decoded; it is tried three times')
  }
}
