// A gateway that adds one job per event. It uses BullMQ's defaults, as most services do, but
// removes completed jobs.
import { Queue } from 'bullmq'
import { serveLogs } from './log-server.ts'
import { connect, queueName, queuePrefix, type EventJob } from './queue.ts'

const queue = new Queue<EventJob>(queueName, { connection: connect(), prefix: queuePrefix })

await serveLogs({
  accept: (rows) =>
    Promise.all(rows.map((row) => queue.add('log', row, { removeOnComplete: true }))),
  close: () => queue.close(),
})
