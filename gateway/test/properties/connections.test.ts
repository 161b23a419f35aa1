import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import t from 'tap'
import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { pipelinedMax } from '@intake/http-edge'
import { batch as batchOf } from '../batches.ts'
import { feedbackPayload, listen, logBody, secret, startGateway } from '../support.ts'
import { segments } from './exchange.ts'
import { checkProperty } from './property.ts'
import { smallBudget, takeRows } from './stored.ts'

/** A request in valid HTTP, and what the gateway must do with it. */
interface Understood {
  text: string
  status: number
  /** How many rows of log events and of feedback the request stores. */
  logs?: number
  feedback?: number
  /** Whether the request's header makes it the last request of the connection. */
  isLast?: boolean
}

const json = 'content-type: application/json'
const event = JSON.stringify(logBody({ params: { text: 'ü😀' } }))
const batch = JSON.stringify(batchOf([{ event: 'a' }, { event: 'b' }]))
const form =
  '--b\r\ncontent-disposition: form-data; name="payload"\r\n\r\n' +
  `${JSON.stringify(feedbackPayload())}\r\n--b--\r\n`

function post(path: string, body: string, more: string[], options: { key?: string } = {}): string {
  const { key = secret } = options
  const length = `content-length: ${Buffer.byteLength(body)}`
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${key}`, length, ...more]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Returns the same request with its body in two chunks. */
function chunked(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const bytes = Buffer.from(body)
  const chunk = (part: Buffer) => `${part.length.toString(16)}\r\n${part.toString('latin1')}\r\n`
  const chunks = Buffer.from(`${chunk(bytes.subarray(0, 9))}${chunk(bytes.subarray(9))}`, 'latin1')
  const coding = head.replace(/content-length: \d+/, 'transfer-encoding: chunked')
  return `${coding}\r\n\r\n${chunks.toString()}0\r\n\r\n`
}

const logText = post('/api/log', event, [json])
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

const stored = { status: 201, logs: 1 }
const understood: Understood[] = [
  { text: logText, ...stored },
  { text: logText.replace('HTTP/1.1', 'HTTP/1.0'), ...stored, isLast: true },
  { text: logText.replace('HTTP/1.1', 'HTTP/1.0\r\nconnection: keep-alive'), ...stored },
  { text: chunked(logText), ...stored },
  { text: post('/api/log', event, [json, 'connection: close']), ...stored, isLast: true },
  { text: post('/api/log', event, [json, 'expect: 100-continue']), ...stored },
  { text: post('/api/log/batch', batch, [json]), status: 207, logs: 2 },
  {
    text: post('/api/feedback', form, ['content-type: multipart/form-data; boundary=b']),
    status: 201,
    feedback: 1,
  },
  { text: post('/api/log', event, [json], { key: 'wrong' }), status: 401 },
  { text: post('/api/log', '{"', [json]), status: 400 },
  { text: post('/api/log', '', [json]), status: 400 },
  { text: get('/healthz'), status: 200 },
  { text: get('/healthz').replace('GET', 'HEAD'), status: 200 },
  { text: get('/nothing'), status: 404 },
  { text: get('/api/log'), status: 405 },
]

/** The bytes that follow the last valid request. */
interface Rest {
  bytes: Buffer
  /**
   * Whether the gateway must close the connection because of these bytes, although the client could
   * send more.
   */
  isBroken: boolean
}

const some = (isBroken: boolean, ...texts: string[]) =>
  fc.constantFrom(...texts).map((text): Rest => ({ bytes: Buffer.from(text), isBroken }))
const chunkedHead = chunked(logText).split('\r\n\r\n', 1)[0] ?? ''

const rests: Arbitrary<Rest> = fc.oneof(
  fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => ({ bytes: Buffer.from(bytes), isBroken: false })),
  fc.string({ maxLength: 100 }).map((text) => ({ bytes: Buffer.from(text), isBroken: false })),
  some(true, ' ', '}', 'ü"}}', '\r\n\r\n ', '\0', event, ' '.repeat(400_000)),
  some(false, '\r\n', '\n', 'P'),
  // The bodies of these requests are cut off or invalid, so the gateway must not execute the
  // requests.
  some(
    true,
    ...['zz\r\n', '-1\r\n', '2\r\n{}zz', '0\r\na b\r\n\r\n'].map(
      (chunks) => `${chunkedHead}\r\n\r\n${chunks}`,
    ),
  ),
  fc
    .nat(logText.length - 2)
    .map((end) => ({ bytes: Buffer.from(logText).subarray(0, end + 1), isBroken: false })),
  some(
    true,
    'CONNECT x:1 HTTP/1.1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/3.0\r\n\r\n',
  ),
  // In each of these texts a valid request follows broken bytes. A parser that continues after the
  // broken bytes would execute that request. The gateway must not.
  some(
    true,
    ...[' ', '\0\r\n', 'zz\r\n\r\n', 'GET / NOPE\r\n\r\n', ' \r\n'].map((bytes) => bytes + logText),
  ),
)

const sent = fc.record({
  requests: fc.array(fc.constantFrom(...understood), {
    minLength: 1,
    maxLength: pipelinedMax - 1,
  }),
  rest: rests,
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
  halfCloses: fc.boolean(),
})

interface Response {
  status: number
  isLast: boolean
  code: ErrorCode | undefined
}

/**
 * Parses the responses in the text that a connection received. Leaves out `100 Continue`. Throws if
 * the text contains anything else.
 */
function parse(text: string, methods: string[]): Response[] {
  const responses: Response[] = []
  let left = text
  while (left !== '') {
    const end = left.indexOf('\r\n\r\n') + 4
    const head = left.slice(0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    if (end < 4 || Number.isNaN(status)) throw new Error(`not a response: ${left}`)
    left = left.slice(end)
    if (status === 100) continue
    const isHead = methods[responses.length] === 'HEAD'
    const length = isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
    const body = left.slice(0, length)
    if (body.length !== length) throw new Error(`cut off: ${left}`)
    left = left.slice(length)
    const isLast = /\r\nconnection: close\r\n/i.test(head)
    const code = status < 400 ? undefined : (JSON.parse(body) as { code: ErrorCode }).code
    if (code !== undefined && errorCatalogue[code]?.status !== status) throw new Error(code)
    responses.push({ status, isLast, code })
  }
  return responses
}

/**
 * Sends bytes, cut into segments, and reads until the gateway closes the connection. The client
 * closes its half when `isDone` returns true. `isDone` gets the text received so far, and undefined
 * once all bytes are sent.
 */
async function send(
  port: number,
  options: { bytes: Buffer; cuts: number[]; isDone: (received: string | undefined) => boolean },
): Promise<string> {
  const { bytes, cuts, isDone } = options
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let text = ''
  // Ignores a write that fails because the connection has ended: only what was received counts.
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    if (isDone(text)) socket.end()
  })
  socket.on('end', () => socket.end())
  const closed = once(socket, 'close')
  for (const segment of segments(bytes, cuts)) {
    if (segment.length > 0 && socket.writable) socket.write(segment)
    await immediate()
  }
  if (isDone(undefined)) socket.end()
  await closed
  return text
}

t.test('valid requests get one response each, in order, even before broken bytes', async (t) => {
  const gateway = await startGateway(t, { env: smallBudget })
  const port = await listen(gateway)
  const counts = { responses: 0, closed: 0, refused: 0 }

  await checkProperty(t, {
    runs: 200,
    value: sent,
    async holds({ requests, rest, cuts, halfCloses }) {
      const last = requests.findIndex(({ isLast }) => isLast)
      const expected = last === -1 ? requests : requests.slice(0, last + 1)
      const methods = expected.map(({ text }) => text.split(' ', 1)[0] ?? '')
      for (const kind of ['logs', 'feedback'] as const) takeRows(gateway, kind)
      const text = await send(port, {
        bytes: Buffer.concat([...requests.map((one) => Buffer.from(one.text)), rest.bytes]),
        cuts,
        isDone(received) {
          if (received === undefined) return halfCloses
          const responses = received.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0
          return !rest.isBroken && responses >= expected.length
        },
      })
      const check = (holds: boolean, what: string) => {
        if (!holds) throw new Error(`${what}: ${text}`)
      }
      const responses = parse(text, methods)
      const got = responses.slice(0, expected.length)
      const statuses = (all: readonly { status: number }[]) =>
        all.map(({ status }) => status).join()
      check(statuses(got) === statuses(expected), `not ${statuses(expected)}`)
      const refused = responses.slice(expected.length)
      check(refused.length <= 1, 'a response too many')
      check(
        refused.every(({ code }) => code === 'malformed_http'),
        'not malformed_http',
      )
      check(
        responses.slice(0, -1).every(({ isLast }) => !isLast),
        'a response after the last',
      )
      for (const kind of ['logs', 'feedback'] as const) {
        const rows = expected.reduce((sum, one) => sum + (one[kind] ?? 0), 0)
        check(takeRows(gateway, kind).length === rows, `not ${rows} rows of ${kind}`)
      }
      counts.responses += got.length
      counts.refused += refused.length
      if (responses.at(-1)?.isLast === true) counts.closed++
    },
  })
  t.comment(
    `${counts.responses} responses to what was understood, ${counts.refused} to what was not; ` +
      `${counts.closed} connections whose last response announced the end`,
  )
})
