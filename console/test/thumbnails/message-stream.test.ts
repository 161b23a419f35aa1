import { Readable, PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { readMessages, writeMessage, type Message } from '../../src/thumbnails/message-stream.ts'

const messages: Message[] = [
  { head: { a: 1 }, body: Buffer.from('one') },
  { head: {}, body: Buffer.alloc(0) },
  { head: { text: 'ä' }, body: Buffer.alloc(10_000, 7) },
]
const written = new PassThrough({ highWaterMark: 1_000_000 })
for (const message of messages) writeMessage(written, message)
written.end()
const bytes = await buffer(written)

t.test('messages are read as they were written, whatever pieces they arrive in', async (t) => {
  for (const size of [1, 7, 6_400, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    )
    const read = []
    for await (const message of readMessages(Readable.from(pieces), 10_000)) read.push(message)
    t.same(read, messages, `pieces of ${size} bytes`)
  }
})

t.test('a message beyond the limit is an error, before it has arrived', async (t) => {
  const lengths = Buffer.from([0, 0, 0, 2, 0, 0, 0, 11])
  await t.rejects(readMessages(Readable.from([lengths]), 10).next(), /too large/)
  lengths[0] = 1
  await t.rejects(readMessages(Readable.from([lengths]), 10).next(), /too large/)
})
