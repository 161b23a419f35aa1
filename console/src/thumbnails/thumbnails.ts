import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { countOutcomes, createWarning, type Logger, type Registry } from '@intake/runtime/process'
import { createDecoder, DecoderMissingError, type Decoder } from './decoder-process.ts'
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

const intervalMs = 60_000
const closeTimeoutMs = 3_000
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
  const { metrics, log, onError } = options
  const { decoder = createDecoder(), clock = systemClock } = options
  let isClosed = false
  let isMissing = false
  const examineAll = createWorkList({
    ...options,
    decoder,
    clock,
    count: createThumbnailMetrics(metrics),
    isClosed: () => isClosed,
    onDecoderEnded: createWarning(
      log,
      help,
      'a picture could not be decoded; it is tried three times',
    ),
  })

  async function poll(): Promise<void> {
    if (isMissing) return
    try {
      await examineAll()
    } catch (error) {
      if (!(error instanceof DecoderMissingError)) throw error
      isMissing = true
      log.warn({ err: error, help }, 'pictures get no thumbnails: sharp cannot be loaded')
    }
  }

  let running = Promise.resolve()
  const polling = startPolling({ poll: () => (running = poll()), intervalMs, onError, clock })
  return {
    /** Call it when feedback has become visible, so that its pictures are examined. */
    arrived: polling.pollNow,
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
