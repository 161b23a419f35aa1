// A worker for jobs of one event each. It collects up to 1,000 jobs, for at most 100 ms. Then it
// stores their events with one insert, and completes the jobs.
import { Worker, type Job } from 'bullmq'
import { connect, eventQueue } from './queue.ts'
import type { LogRow } from './row.ts'
import { openTable } from './table.ts'

const insertRows = 1_000
const insertsAtOnce = 2
const lingerMs = 100

const table = openTable({ connectionsMax: insertsAtOnce })
let parked: { row: LogRow; resolve: () => void; reject: (error: unknown) => void }[] = []
let timer: NodeJS.Timeout | undefined

async function insertParked(): Promise<void> {
  clearTimeout(timer)
  timer = undefined
  const taken = parked
  parked = []
  if (taken.length === 0) return
  try {
    await table.insert(taken.map(({ row }) => row))
    for (const { resolve } of taken) resolve()
  } catch (error) {
    for (const { reject } of taken) reject(error)
  }
}

const worker = new Worker(
  eventQueue.name,
  (job: Job<LogRow>) =>
    new Promise<void>((resolve, reject) => {
      parked.push({ row: job.data, resolve, reject })
      if (parked.length >= insertRows) void insertParked()
      else timer ??= setTimeout(() => void insertParked(), lingerMs)
    }),
  {
    connection: connect(),
    prefix: eventQueue.prefix,
    concurrency: insertRows * insertsAtOnce,
    lockDuration: 60_000,
  },
)
worker.on('error', (error) => console.error(error.message))
await worker.waitUntilReady()
process.once('SIGTERM', () => {
  void worker.close().then(async () => {
    await table.close()
    process.exit(0)
  })
})
console.log(JSON.stringify({ up: true }))
