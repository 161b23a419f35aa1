import { compress } from '@intake/queue/frame'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import type { Redis } from '@intake/redis'

/**
 * Enqueues frames of log rows, as a gateway does. Each row is JSON.
 *
 * @param onStored called when Redis has stored the frame with this index
 */
export async function enqueueLogs(
  redis: Redis,
  frames: readonly (readonly string[])[],
  onStored: (index: number) => Promise<void> | void = () => undefined,
): Promise<void> {
  const sink = createJobSink({ redis, kind: 'logs' })
  const producer = createFrameProducer({ sink })
  try {
    for (const [index, rows] of frames.entries()) {
      const ndjson = Buffer.from(rows.map((row) => `${row}\n`).join(''))
      const frame = { rows: rows.length, jsonBytes: ndjson.length, ...compress(ndjson) }
      await producer.add({ ...frame, receivedAtMs: Date.now() }, performance.now() + 60_000)
      await onStored(index)
    }
  } finally {
    await sink.close()
  }
}
