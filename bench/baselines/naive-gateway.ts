// A gateway that adds one job per request. It uses BullMQ's defaults, as most services do, but
// removes completed jobs.
import { Queue } from 'bullmq'
import { serveLogs } from './log-server.ts'
import { connect, eventQueue } from './queue.ts'

const queue = new Queue(eventQueue.name, { connection: connect(), prefix: eventQueue.prefix })

await serveLogs({
  accept: (row) => queue.add('log', row, { removeOnComplete: true }),
  close: () => queue.close(),
})
