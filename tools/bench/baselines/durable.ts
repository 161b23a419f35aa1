// The least that Intake's design can cost: one hook for the key, validation, one `JSON.stringify`
// per row, rows gathered into a compressed frame, one BullMQ job per frame, and 201 when Redis has
// it. No limits, rules, idempotency, deadlines, metrics or clear errors.
import { Queue } from 'bullmq'
import { compress } from '@intake/queue/frame'
import { gather } from './gather.ts'
import { serveLogs } from './log-server.ts'
import { connect, queueName, queuePrefix, type FrameJob } from './queue.ts'

const queue = new Queue(queueName, { connection: connect(), prefix: queuePrefix })
const store = gather({
  rowsMax: Infinity,
  lingerMs: 4,
  store(lines) {
    const { coding, bytes } = compress(lines.join('\n'))
    const frame: FrameJob = { coding, frame: bytes.toString('base64') }
    return queue.add('frame', frame, { removeOnComplete: true })
  },
})

await serveLogs({
  accept: (rows) => store(rows.map((row) => JSON.stringify(row))),
  close: () => queue.close(),
})
