import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { countOutcomes, type Logger, type Registry } from '@intake/runtime/process'
import {
  createDecoder,
  DecoderMissingError,
  type Decoder,
  type DecoderEndedError,
} from './decoder-process.ts'
import type { ExamineOptions } from './examine-feedback.ts'
import { thumbnailErrors } from './examined.ts'
import { createWorkList } from './work-list.ts'

export type Thumbnails = ReturnType<typeof startThumbnails>

export const createThumbnailMetrics = (registry: Registry) =>
  countOutcomes(registry, {
    name: 'intake_thumbnails_total',
    help: 'Pictures that were examined for a thumbnail, by outcome: made, again (it failed and is tried again), or why there is none.',
    outcomes: ['made', 'again', ...thumbnailErrors],
  })

/** ClickHouse is queried only if work is due. */
const intervalMs = 60_000
const closeTimeoutMs = 3_000
const kindsMax = 10
const help = 'docs/operations/thumbnails-late.md'

/**
 * Makes thumbnails of pictures when their feedback has become visible, one at a time, in separate
 * processes. Nothing waits for a thumbnail, and a failure does not affect any record. Several
 * consoles may do this at the same time.
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
) {
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
    }
  }

  const poll = () => (running = examineAll())
  const polling = startPolling({ poll, intervalMs, onError, clock })
  return {
    /**
     * Call it when feedback has become visible, so that its pictures are examined. Workers report
     * that every few seconds, so one query finds several feedback.
     *
     * @param receivedAtMs when the oldest of this feedback arrived, in milliseconds since 1970
     */
    arrived(receivedAtMs: number): void {
      if (isMissing) return
      workList.addSince(receivedAtMs)
      polling.pollNow()
    },
    /** Why this console makes no thumbnails; undefined if no picture has failed so. */
    missing: () => (isMissing ? 'sharp cannot be loaded' : undefined),
    confinement: decoder.confinement,
    /** Resolves when no more requests are sent, or after three seconds. */
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
 * Logs the first failure of each kind. Their number is limited, because a malicious picture may
 * control the process and make up kinds.
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
