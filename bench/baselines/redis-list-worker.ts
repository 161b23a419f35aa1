// A worker that reads a chunk from the head of the list, inserts it, and only then trims the list.
// Run only one such worker: a second one would insert the same chunk.
import { setTimeout as pause } from 'node:timers/promises'
import { connect, eventQueue } from './queue.ts'
import type { LogRow } from './row.ts'
import { openTable } from './table.ts'

const chunkRows = 4_000
const idleMs = 500

const redis = connect()
const table = openTable({ connectionsMax: 1 })
const key = `${eventQueue.prefix}:list`
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
console.log(JSON.stringify({ up: true }))

while (!stop.signal.aborted) {
  const chunk = await redis.lrange(key, 0, chunkRows - 1)
  if (chunk.length > 0) {
    await table.insert(chunk.map((json) => JSON.parse(json) as LogRow))
    await redis.ltrim(key, chunk.length, -1)
  }
  // Does not pause after a full chunk, because more events are waiting.
  if (chunk.length < chunkRows) await pause(idleMs)
}
redis.disconnect()
await table.close()
