// The worker of `naive` and `durable`. It gathers the rows of many jobs, for at most 100 ms, stores
// them with one insert, and completes the jobs.
import { Worker, type Job } from 'bullmq'
import { decompress } from '@intake/queue/frame'
import { gather } from './gather.ts'
import { connect, queueName, queuePrefix, type EventJob, type FrameJob } from './queue.ts'
import { openTable } from './table.ts'

const insertRows = 1_000
const insertsAtOnce = 2

const table = openTable({ connectionsMax: insertsAtOnce })
const store = gather({
  rowsMax: insertRows,
  lingerMs: 100,
  store: (lines) => table.insert(lines),
})

function linesOf(job: EventJob | FrameJob): string[] {
  if (!('frame' in job)) return [JSON.stringify(job)]
  const { coding, frame } = job as FrameJob
  return decompress({ coding, bytes: Buffer.from(frame, 'base64') })
    .toString()
    .split('\n')
}

const worker = new Worker(queueName, ({ data }: Job<EventJob | FrameJob>) => store(linesOf(data)), {
  connection: connect(),
  prefix: queuePrefix,
  concurrency: insertRows * insertsAtOnce,
  lockDuration: 60_000,
})
worker.on('error', (error) => console.error(error.message))
await worker.waitUntilReady()
process.once('SIGTERM', () => {
  void worker.close().then(async () => {
    await table.close()
    process.exit(0)
  })
})
console.log(JSON.stringify({ up: true }))
