import t from 'tap'
import { exchangeWith } from '../src/core/fetch-transport.ts'
import type { TimeSource } from '../src/core/ports.ts'

const time = { setTimeout, clearTimeout } as unknown as TimeSource

/** Reads a response whose body `pull` writes. */
async function read(pull: (stream: ReadableStreamDefaultController<Uint8Array>) => void) {
  let signal: AbortSignal | null | undefined
  const send = async (_url: unknown, init?: RequestInit) => {
    signal = init?.signal
    return new Response(new ReadableStream({ pull }), { status: 201 })
  }
  const answer = await exchangeWith(send, time)('http://intake.test', {}, 10_000)
  return { answer, signal }
}

t.test('a response without an end is cut off after 4 MB, and its request is aborted', async (t) => {
  const { answer, signal } = await read((stream) => stream.enqueue(Buffer.alloc(100_000, 'x')))
  t.equal(answer.body.length, 4_000_000)
  t.equal(signal?.aborted, true)
})

t.test('a character in two pieces of a response is one character', async (t) => {
  const pieces = [...Buffer.from('{"detail":"Größe 😀"}')]
  const { answer } = await read((stream) => {
    const byte = pieces.shift()
    if (byte === undefined) stream.close()
    else stream.enqueue(Uint8Array.of(byte))
  })
  t.match(answer, { status: 201, body: '{"detail":"Größe 😀"}', retryAfter: null })
})
