import { IntakeError } from '@intake/contract'
import { compress } from '@intake/queue/coding'
import type { FrameProducer } from '@intake/queue/produce'
import { systemClock, type Clock } from '@intake/runtime'
import type { Row } from '../record/row.ts'
import { chooseFrame, type Waiting } from './choose-frame.ts'
import { createLineWriter } from './line-writer.ts'
import { settleTogether } from './settle-together.ts'
import type { StartEnqueue } from './trace-enqueue.ts'

/** A frame that is on stable storage. */
export interface StoredFrame {
  rows: number
  /** The compressed size. */
  bytes: number
  /** Milliseconds from the arrival of the frame's oldest row until the frame was stored. */
  ms: number
}

export interface GroupCommit {
  /**
   * Resolves when all rows of a request are on stable storage.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `queue_unavailable` (certainly none is stored), `outcome_unknown` (some
   * may be stored, or stored too long after their arrival), or `internal_error` on a fault of this
   * program
   */
  append(rows: readonly Row[], deadline: number): Promise<void>
  /** Resolves when all appended rows have settled. */
  close(): Promise<void>
}

const framesInFlightMax = 4
/**
 * The minimum time between the starts of two frames under load. Without it there would be too many
 * frames: a frame costs Redis and the worker as much as about fifty rows. A lone row does not wait.
 */
const frameIntervalMs = 4
/**
 * Replaces `frameIntervalMs` when CPU time is scarce, because a few full frames then finish sooner
 * than many small ones.
 */
const busyFrameIntervalMs = 8
const busyUtilization = 0.8
/** The largest buffer that is kept for the next frame. Any frame of several rows fits into it. */
const keptBytesMax = 3 * 1024 * 1024

/**
 * Called when a frame is stored, for each run of rows of one API key: `bytes` is the run's part of
 * the compressed size.
 */
type OnHeld = (apiKeyId: string, bytes: number) => void

interface FlushOptions {
  producer: Pick<FrameProducer, 'add'>
  acceptanceMsMax: number
  onStored: (frame: StoredFrame) => void
  onHeld?: OnHeld | undefined
  startEnqueue?: StartEnqueue | undefined
  wallMs?: () => number
}

/**
 * Stores rows in frames. A lone row starts a frame at once. Under load, a row waits a few
 * milliseconds for the next frame, or longer while the maximum number of frames is in flight. The
 * next frame takes the rows that have arrived before it starts. So under load frames become larger,
 * not more frequent. All rows of a frame belong to one partition; rows of other partitions wait for
 * a later frame.
 *
 * @param options.loopUtilization share of time in which this process is busy, 0 to 1
 * @param options.acceptanceMsMax the maximum time from the arrival of a row to its storage. A row
 * that took longer is not acknowledged, because the watermark of the views may already be later
 * than its arrival
 * @param options.onStored called for each stored frame
 * @param options.onHeld undefined if nothing is counted by API key
 * @param options.startEnqueue undefined if frames are not traced
 * @param options.wallMs the clock to which `receivedAtMs` of rows refers, in milliseconds since
 * 1970
 */
export function createGroupCommit(
  options: FlushOptions & { loopUtilization: () => number; clock?: Clock },
): GroupCommit {
  const { acceptanceMsMax, clock = systemClock, wallMs = () => Date.now() } = options
  const flush = createFlush(options)
  let waiting: Waiting[] = []
  let scheduled = false
  /** The earliest start of the next frame, in milliseconds of `clock.now()`. */
  let nextStart = 0
  const inFlight = new Set<Promise<void>>()

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight.size >= framesInFlightMax) return
    scheduled = true
    const pauseMs = nextStart - clock.now()
    if (pauseMs > 0) clock.setTimeout(start, pauseMs)
    else clock.setImmediate(start)
  }

  function start(): void {
    scheduled = false
    const frame = takeFrame()
    const isLone = frame.length <= 1 && inFlight.size === 0
    // Rows that did not fit into this frame do not wait for the interval.
    nextStart = isLone || waiting.length > 0 ? 0 : clock.now() + intervalMs()
    const flight = flush(frame).finally(() => {
      inFlight.delete(flight)
      schedule()
    })
    inFlight.add(flight)
    schedule()
  }

  function intervalMs(): number {
    return options.loopUtilization() > busyUtilization ? busyFrameIntervalMs : frameIntervalMs
  }

  function takeFrame(): Waiting[] {
    rejectExpired()
    const { frame, others } = chooseFrame(waiting)
    waiting = others
    return frame
  }

  /** Rejects rows that can no longer be stored in time; they are certainly not stored. */
  function rejectExpired(): void {
    const now = clock.now()
    const arrivedAfter = wallMs() - acceptanceMsMax
    const isExpired = ({ row, deadline }: Waiting) =>
      deadline <= now || row.receivedAtMs < arrivedAfter
    const expired = waiting.filter(isExpired)
    if (expired.length === 0) return
    waiting = waiting.filter((one) => !isExpired(one))
    const error = new IntakeError('queue_unavailable', 'The queue did not take the record in time.')
    for (const { reject } of expired) reject(error)
  }

  return {
    append: (rows, deadline) =>
      settle(rows.length, (resolve, reject) => {
        for (const row of rows) waiting.push({ row, deadline, resolve, reject })
        schedule()
      }),

    async close() {
      while (waiting.length > 0 || inFlight.size > 0) {
        await Promise.all(inFlight)
        await new Promise<void>((resolve) => clock.setImmediate(resolve))
      }
    },
  }
}

/** Waits for the rows of one request with one promise. */
const settle: typeof settleTogether = (rows, begin) =>
  rows === 1 ? new Promise(begin) : settleTogether(rows, begin)

/** Creates the function that stores one frame and settles its rows. The function never rejects. */
function createFlush(options: FlushOptions): (frame: Waiting[]) => Promise<void> {
  const { producer, acceptanceMsMax, wallMs = () => Date.now() } = options
  const writeLines = createLineWriter(keptBytesMax)
  return async (frame) => {
    if (frame.length === 0) return
    const span = options.startEnqueue?.(frame)
    try {
      const ndjson = writeLines(frame.map(({ row }) => row.json))
      // Compresses on the event loop, because a round trip to the thread pool takes several times
      // as long as compressing a frame.
      const compressed = compress(ndjson)
      const deadline = Math.max(...frame.map((one) => one.deadline))
      const receivedAtMs = Math.min(...frame.map(({ row }) => row.receivedAtMs))
      const traceparent = span?.traceparent
      const stored = {
        rows: frame.length,
        jsonBytes: ndjson.length,
        ...compressed,
        receivedAtMs,
        traceparent,
      }
      await producer.add(stored, deadline)
      span?.end()
      const storedAtMs = wallMs()
      const arrivedAfter = storedAtMs - acceptanceMsMax
      for (const { row, resolve, reject } of frame) {
        if (row.receivedAtMs >= arrivedAfter) resolve()
        else reject(new IntakeError('outcome_unknown', 'The queue took the record too late.'))
      }
      // The difference is negative if the wall clock was set back after the row arrived.
      const ms = Math.max(0, storedAtMs - receivedAtMs)
      options.onStored({ rows: frame.length, bytes: compressed.bytes.length, ms })
      if (options.onHeld) divide(frame, compressed.bytes.length, options.onHeld)
    } catch (cause) {
      const error =
        cause instanceof IntakeError
          ? cause
          : new IntakeError('internal_error', 'The record could not be put into a frame.', {
              cause,
            })
      span?.end(error.code)
      for (const { reject } of frame) reject(error)
    }
  }
}

/**
 * Attributes a frame to the API keys of its rows. The rows of a request follow each other, so there
 * are few runs. Each run gets its part of the compressed size, by the length of its rows in UTF-16
 * units.
 */
function divide(frame: readonly Waiting[], bytes: number, onHeld: OnHeld): void {
  let length = 0
  for (const { row } of frame) length += row.json.length + 1
  const ratio = bytes / length
  let apiKeyId = frame[0]?.row.apiKeyId ?? ''
  let characters = 0
  for (const { row } of frame) {
    if (row.apiKeyId !== apiKeyId) {
      onHeld(apiKeyId, characters * ratio)
      apiKeyId = row.apiKeyId
      characters = 0
    }
    characters += row.json.length + 1
  }
  onHeld(apiKeyId, characters * ratio)
}
