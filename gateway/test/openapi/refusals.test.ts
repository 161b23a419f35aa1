import t from 'tap'
import { gzipSync } from 'node:zlib'
import { IntakeError, type ErrorCode } from '@intake/contract'
import { refusalsOf, type OperationId } from '@intake/contract/openapi'
import { batch } from '../batches.ts'
import { file, payload, send, type Part } from '../forms.ts'
import {
  images,
  logBody,
  operations,
  post,
  sender,
  startGateway,
  type TestGateway,
} from '../support.ts'

interface Way {
  /** The operations that can be refused so; default: all. */
  of?: readonly OperationId[]
  options?: Parameters<typeof startGateway>[1]
  fail?: TestGateway['fail']
  headers?: Record<string, string>
  /** The JSON that is sent, or the payload of the form. */
  json?: string | Buffer | object
  /** The parts after the payload of the form. */
  parts?: Part[]
  /** Whether an earlier request, of other content, is accepted. */
  isSecond?: true
}

const ofLogs = ['createLog', 'createLogBatch'] as const
const ofFeedback = ['createFeedback'] as const
const error = (code: ErrorCode) => new IntakeError(code, 'A test.')
const key = { 'idempotency-key': 'a-key' }
const oldId = '01700000-0000-7000-8000-000000000000'

/** At least one way to provoke each error of an operation. */
const ways: [ErrorCode, Way][] = [
  ['invalid_json', { json: '{' }],
  ['invalid_encoding', { json: Buffer.from('"é"', 'latin1') }],
  ['invalid_multipart', { of: ofFeedback, headers: { 'content-type': 'multipart/form-data' } }],
  ['invalid_request', { json: {} }],
  ['unauthorized', { headers: { 'x-api-key': 'a-wrong-key' } }],
  ['bundle_not_allowed', { options: { key: { bundleIdentifiers: ['com.example.other'] } } }],
  ['key_suspended', { options: { key: { suspendedAt: '2026-01-01T00:00:00.000Z' } } }],
  ['origin_not_allowed', { options: { key: { origins: ['https://example.com'] } } }],
  [
    'body_too_large',
    {
      of: ofLogs,
      json: gzipSync(Buffer.alloc(3_000_000)),
      headers: { 'content-encoding': 'gzip' },
    },
  ],
  ['body_too_large', { of: ofFeedback, json: { text: 'a'.repeat(1_100_000) } }],
  [
    'attachment_too_large',
    { of: ofFeedback, options: { env: { ATTACHMENT_BYTES_MAX: '10' } }, parts: [file(images.png)] },
  ],
  [
    'attachment_too_many_pixels',
    {
      of: ofFeedback,
      options: { env: { ATTACHMENT_PIXELS_MAX: '1' } },
      parts: [
        file(Buffer.concat([images.png.subarray(0, 19), Buffer.of(2), images.png.subarray(20)])),
      ],
    },
  ],
  ['too_many_attachments', { of: ofFeedback, parts: Array(5).fill(file(images.png)) as Part[] }],
  ['attachment_not_an_image', { of: ofFeedback, parts: [file('text')] }],
  ['attachment_unreadable', { of: ofFeedback, parts: [file(images.png.subarray(0, 12))] }],
  ['unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
  ['unsupported_encoding', { headers: { 'content-encoding': 'br' } }],
  ['idempotency_key_reused', { headers: key, isSecond: true }],
  ['id_time_out_of_range', { of: ['createLog'], json: logBody({ id: oldId }) }],
  [
    'id_time_out_of_range',
    { of: ofFeedback, headers: key, options: { policy: { retentionMs: () => -1_000 } } },
  ],
  ['rate_limited', { options: { env: { RATE_LIMIT_MAX: '1' } }, isSecond: true }],
  ['budget_exhausted', { options: { key: { limits: { bytesPerDay: 1 } } }, isSecond: true }],
  ['internal_error', { fail: { enqueue: new Error('a fault') as IntakeError } }],
  ['busy', { fail: { enqueue: error('busy') } }],
  ['queue_full', { options: { queueState: { memoryUsed: 2 ** 40 } } }],
  ['queue_unavailable', { options: { keysLoaded: false } }],
  ['queue_unavailable', { options: { policy: { isLoaded: () => false } } }],
  ['keys_full', { headers: key, fail: { reserve: error('keys_full') } }],
  ['clock_skew', { options: { wallMs: () => 0 } }],
  [
    'storage_unavailable',
    { of: ofFeedback, parts: [file(images.png)], fail: { put: error('storage_unavailable') } },
  ],
  ['outcome_unknown', { fail: { enqueue: error('outcome_unknown') } }],
]

/** `http-edge` responds with these to any request; `gateway/test/http-edge` provokes them. */
const ofEdge: ErrorCode[] = [
  'malformed_http',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
]

const noFailure = { enqueue: undefined, reserve: undefined, put: undefined }

/** Sends a request to an operation; returns the error code. */
async function request(
  gateway: TestGateway,
  url: string,
  { json, parts = [], headers = {} }: Way,
  text: string,
): Promise<string> {
  if (url === '/api/feedback') {
    const sent = payload({ text })
    if (json !== undefined) sent[1] = isText(json) ? json : JSON.stringify({ ...sender(), ...json })
    return (await send(gateway, [sent, ...parts], headers)).body.code
  }
  const body = url === '/api/log' ? logBody({ event: text }) : batch([{ event: text }])
  return (await post(gateway, url, json ?? body, headers)).json<{ code: string }>().code
}

const storedBy = ({ frames, objects }: TestGateway) => [
  frames.logs.length,
  frames.feedback.length,
  objects.size,
]

const isText = (json: unknown) => typeof json === 'string' || Buffer.isBuffer(json)

t.test('each operation gives exactly the errors that the document names for it', async (t) => {
  const given = Object.values(operations).flatMap((operation) =>
    ofEdge.map((code) => `${operation} ${code}`),
  )
  const usual = await startGateway(t)
  for (const [code, way] of ways) {
    const gateway = way.options === undefined ? usual : await startGateway(t, way.options)
    Object.assign(gateway.fail, noFailure, way.fail)
    for (const [url, operation] of Object.entries(operations)) {
      if (way.of !== undefined && !way.of.includes(operation)) continue
      if (way.isSecond) await request(gateway, url, way, 'earlier')
      const before = storedBy(gateway)
      t.equal(await request(gateway, url, way, 'text'), code, `${operation} ${code}`)
      // Objects may stay after an error of the queue.
      if (way.fail === undefined) t.same(storedBy(gateway), before, 'nothing is stored')
      given.push(`${operation} ${code}`)
    }
  }
  const documented = Object.values(operations).flatMap((operation) =>
    [...refusalsOf(operation).values()].flat().map((code) => `${operation} ${code}`),
  )
  t.same([...new Set(given)].toSorted(), documented.toSorted())
})
