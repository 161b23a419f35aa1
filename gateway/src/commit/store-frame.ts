import { IntakeError } from '@intake/contract'
import { compress } from '@intake/queue/frame'
import type { FrameProducer } from '@intake/queue/produce'
import type { Unsent } from '../admission/queue-shares.ts'
import type { Row } from '../record/row.ts'
import type { StartEnqueue } from './trace-enqueue.ts'

export interface StoredFrame {
  rows: number
  bytes: number
  /** Milliseconds from the arrival of the frame's oldest row until the frame was stored. */
  ms: number
}

/** The largest buffer that is kept for the next frame. Any frame of several rows fits into it. */
const keptBytesMax = 3 * 1024 * 1024

/**
 * Creates a function that stores rows as one frame, and resolves when it is on stable storage.
 *
 * @param options.startEnqueue undefined if frames are not traced
 * @throws {IntakeError} the errors of `FrameProducer.add`, or `internal_error` on a fault of this
 * program
 */
export function createStoreFrame(options: {
  producer: Pick<FrameProducer, 'add'>
  startEnqueue?: StartEnqueue | undefined
  wallMs: () => number
}): (rows: readonly Row[], deadline: number) => Promise<StoredFrame & { storedAtMs: number }> {
  const { producer, startEnqueue, wallMs } = options
  const writeRows = createRowWriter()

  return async (rows, deadline) => {
    const span = startEnqueue?.(rows)
    try {
      const ndjson = writeRows(rows)
      // Compresses on the event loop, because a round trip to the thread pool takes several times
      // as long as compressing a frame.
      const compressed = compress(ndjson)
      let receivedAtMs = Infinity
      for (const row of rows) receivedAtMs = Math.min(receivedAtMs, row.receivedAtMs)
      const traceparent = span?.traceparent
      const about = { rows: rows.length, jsonBytes: ndjson.length, receivedAtMs, traceparent }
      await producer.add({ ...about, ...compressed }, deadline)
      span?.end()
      const storedAtMs = wallMs()
      // The difference is negative if the wall clock was set back after the row arrived.
      const ms = Math.max(0, storedAtMs - receivedAtMs)
      return { rows: rows.length, bytes: compressed.bytes.length, ms, storedAtMs }
    } catch (cause) {
      const detail = 'The record could not be put into a frame.'
      const error =
        cause instanceof IntakeError ? cause : new IntakeError('internal_error', detail, { cause })
      span?.end(error.code)
      throw error
    }
  }
}

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const bytesPerUnitMax = 3
const lineFeed = 0x0a

/**
 * Creates a function that prints rows as UTF-8 into memory that the next call overwrites. Joining
 * the lines as a string first would take twice as long. Each line has a line feed at its end.
 */
function createRowWriter(): (rows: readonly Pick<Row, 'json'>[]) => Buffer {
  let memory = Buffer.alloc(0)

  return (rows) => {
    let units = 0
    for (const { json } of rows) units += json.length + 1
    const bytesMax = units * bytesPerUnitMax
    const isKept = bytesMax <= keptBytesMax
    if (isKept && bytesMax > memory.length) memory = Buffer.allocUnsafeSlow(bytesMax)
    const used = isKept ? memory : Buffer.allocUnsafeSlow(bytesMax)
    let end = 0
    for (const { json } of rows) {
      end += used.write(json, end)
      used[end++] = lineFeed
    }
    return used.subarray(0, end)
  }
}

/**
 * Attributes a frame to the API keys of its rows. The rows of a request follow each other, so there
 * are few runs. Each run gets its part of the compressed size, by the length of its rows in UTF-16
 * units.
 */
export function divideBytes(rows: readonly Row[], bytes: number, unsent: Unsent): void {
  let length = 0
  for (const { json } of rows) length += json.length + 1
  for (let first = 0; first < rows.length;) {
    const { apiKeyId } = rows[first]!
    let units = 0
    for (; rows[first]?.apiKeyId === apiKeyId; first++) units += rows[first]!.json.length + 1
    const part = Math.round((units * bytes) / length)
    unsent.byKey.set(apiKeyId, (unsent.byKey.get(apiKeyId) ?? 0) + part)
  }
  unsent.bytes += bytes
  if (unsent.bytes >= unsent.bytesMax) unsent.send()
}
