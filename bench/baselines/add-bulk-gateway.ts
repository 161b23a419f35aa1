// A gateway that adds one job per event, as naive-gateway.ts does. It collects the events that
// arrive while an `addBulk` runs, and adds all of them with the next `addBulk`.
import { Queue } from 'bullmq'
import { serveLogs } from './log-server.ts'
import { connect, eventQueue } from './queue.ts'
import type { LogRow } from './row.ts'

const queue = new Queue(eventQueue.name, { connection: connect(), prefix: eventQueue.prefix })
let waiting: { row: LogRow; resolve: () => void; reject: (error: unknown) => void }[] = []
let adding = false

async function addWaiting(): Promise<void> {
  if (adding) return
  adding = true
  while (waiting.length > 0) {
    const taken = waiting
    waiting = []
    try {
      await queue.addBulk(
        taken.map(({ row }) => ({ name: 'log', data: row, opts: { removeOnComplete: true } })),
      )
      for (const { resolve } of taken) resolve()
    } catch (error) {
      for (const { reject } of taken) reject(error)
    }
  }
  adding = false
}

await serveLogs({
  accept: (row) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      setImmediate(() => void addWaiting())
    }),
  close: () => queue.close(),
})
