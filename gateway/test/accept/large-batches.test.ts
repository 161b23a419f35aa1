import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import { batch, send, url } from '../batches.ts'
import { linesOf, post, startGateway, type TestGateway } from '../support.ts'

const expired = () => createIdentity(Date.now() - 31 * 24 * 60 * 60_000).id

/** The unhandled rejections: in the gateway they would end the process. */
const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
process.on('unhandledRejection', note)
t.teardown(() => process.off('unhandledRejection', note))

const params = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, `value ${n}`]))
const text = 'some "quoted" text '.repeat(45_000)

t.test('207: 500 large entries, the first of which is rejected', async (t) => {
  const gateway = await startGateway(t)
  const entries = (length: number, more: object) =>
    Array.from({ length }, (_, n) => ({ event: `e${n}`, id: randomUUID(), ...more }))
  for (const rest of [entries(499, { params }), entries(4, { params: { text } })]) {
    const response = await send(gateway, batch([{ event: 'expired', id: expired() }, ...rest]))
    t.match(response.json(), {
      accepted: rest.length,
      rejected: 1,
      results: [{ code: 'id_time_out_of_range' }, { status: 'accepted' }],
    })
  }
  t.equal(gateway.rows('logs').length, 503)
})

t.test('503 for a large batch whose ids cannot be reserved', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'There is no room.')
  const logs = Array.from({ length: 500 }, () => ({ event: 'e', id: randomUUID(), params }))
  const response = await send(gateway, batch(logs))
  t.match(response.json(), { status: 503, code: 'keys_full' })
  t.equal(gateway.frames.logs.length, 0)
})

/** Sends a batch with at least this many bytes of params; those of its last entry are `last`. */
function sendText(gateway: TestGateway, bytes: number, last: string, isGzip: boolean) {
  const logs = Array.from({ length: Math.ceil(bytes / 10_000) }, (_entry, n) => ({
    event: `e${n}`,
    params: { text: randomBytes(5_000).toString('hex') },
  }))
  const json = JSON.stringify(batch([...logs, { event: 'last', params: 0 }]))
  const sent = json.replace('"params":0', `"params":${last}`)
  if (!isGzip) return send(gateway, sent)
  return post(gateway, url, gzipSync(sent, { level: 1 }), { 'content-encoding': 'gzip' })
}

t.test('207: integers of 64 bits in a batch of up to 1 MiB are stored as sent', async (t) => {
  for (const bytes of [70_000, 300_000, 1_000_000]) {
    for (const isGzip of [false, true]) {
      const gateway = await startGateway(t)
      const last = String.raw`{"max":18446744073709551615,"n":1e16,"k\u0065y":-9007199254740993}`
      const response = await sendText(gateway, bytes, last, isGzip)
      t.match(response.json(), { rejected: 0 })
      const row = gateway.frames.logs
        .flatMap(linesOf)
        .find((line) => line.includes('"event":"last"'))
      t.match(row, '"params":{"max":18446744073709551615,"n":1e+16,"key":-9007199254740993}')
    }
  }
})

t.test('a larger batch: 207 with a double beyond 2^53, 413 with an integer', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of [1_100_000, 4_500_000]) {
    const isGzip = bytes > 4_000_000
    const double = await sendText(gateway, bytes, '{"n":1e16,"m":-1.5E300}', isGzip)
    t.match(double.json(), { rejected: 0 })
    for (const last of ['{"n":9007199254740993}', String.raw`{"k\u0065y":1}`]) {
      const response = await sendText(gateway, bytes, last, isGzip)
      t.match(response.json(), { status: 413, code: 'body_too_large', detail: /2\^53/ })
    }
  }
})

t.test('no rejection was unhandled', async (t) => t.same(unhandled, []))
