// A gateway that uses a Redis list as its buffer, with one RPUSH per event, like OpenPanel's event
// buffer. Unlike OpenPanel, this gateway responds only after Redis has confirmed.
import { serveLogs } from './log-server.ts'
import { connect, eventQueue } from './queue.ts'

const redis = connect()

await serveLogs({
  accept: (row) => redis.rpush(`${eventQueue.prefix}:list`, JSON.stringify(row)),
  close: async () => redis.disconnect(),
})
