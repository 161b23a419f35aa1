import { gzipSync } from 'node:zlib'
import { decompress } from '@intake/queue/frame'
import t, { type Test } from 'tap'
import { IntakeError } from '@intake/contract'
import { batch, send as sendBatch } from '../batches.ts'
import { logBody, secret, sendLog, startGateway, type TestGateway } from '../support.ts'

/** Sends an event that must be stored. Returns its row, and the row as it was printed. */
async function store(
  t: Test,
  gateway: TestGateway,
  payload: object | string | Buffer = logBody(),
  more: Record<string, string> = {},
) {
  const response = await sendLog(gateway, payload, more)
  t.equal(response.statusCode, 201, response.body)
  const printed = decompress(gateway.frames.logs.at(-1)!).toString()
  return { response, printed, row: gateway.rows('logs').at(-1)! }
}

/** Returns an event as JSON, with this text in place of the mark `"MARK"`. */
const withText = (text: string, body: object) => JSON.stringify(body).replace('"MARK"', () => text)
const withParam = (text: string) => withText(text, logBody({ params: { n: 'MARK' } }))
const withDevice = (field: string) =>
  JSON.stringify(logBody()).replace('"os":', () => `${field},"os":`)

t.test('201: the row contains the sent values and the id of the response', async (t) => {
  const gateway = await startGateway(t)
  const device = {
    os: 'Android',
    battery_level: 81.5,
    is_emulator: false,
    build_time: '2024-05-01T12:00:00.5+02:00',
    build_security_patch: '2024-05-01',
    manufacturer: null,
    thermal_state: { level: 2 },
  }
  const params = { screen: 'home', ratio: 0.1, emoji: '😀 "quoted"\n', list: [1, 'a', null] }
  const sent = logBody({ params }, { device, future_field: 1 })
  const { response, row } = await store(t, gateway, sent)
  const { id, message } = response.json()
  t.equal(message, 'Log successfully created')
  const time = new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toISOString()
  t.same(row, {
    id,
    time,
    received_at: time,
    request_id: row['request_id'],
    bundle_identifier: 'com.example.app',
    device_uuid: '6f9619ff-8b86-4d01-b42d-00c04fc964ff',
    unique_user_id: 'user-1',
    api_key_id: 'key_1',
    device: {
      os: 'Android',
      battery_level: 81.5,
      is_emulator: false,
      build_time: '2024-05-01T10:00:00.500Z',
      build_security_patch: '2024-05-01',
    },
    device_extra: { thermal_state: { level: 2 } },
    event: 'screen_view',
    params,
    extra: { future_field: 1 },
  })
})

t.test('201: missing or null params are stored as an empty object', async (t) => {
  const gateway = await startGateway(t)
  for (const log of [{}, { params: null }]) {
    t.strictSame((await store(t, gateway, logBody(log))).row['params'], {})
  }
})

t.test('201: a device property named __proto__ is kept like any other', async (t) => {
  const { printed } = await store(t, await startGateway(t), withDevice('"__proto__":{"a":1}'))
  t.match(printed, '"device_extra":{"__proto__":{"a":1}}')
})

t.test('201: a text of the device that is too long for a name is kept beside it', async (t) => {
  const gateway = await startGateway(t)
  const [fits, long] = ['😀'.repeat(255), 'v'.repeat(256)]
  const device = { os: fits, version_name: long, supported_abis: ['arm64', long], product: 'p' }
  await store(t, gateway, logBody({}, { device }))
  await sendBatch(gateway, batch([{ event: 'a' }], { device }))
  const rows = gateway.rows('logs')
  t.equal(rows.length, 2)
  for (const row of rows) {
    t.same(row['device'], { os: fits, product: 'p' })
    t.same(row['device_extra'], { version_name: long, supported_abis: ['arm64', long] })
  }
})

t.test('201: integers of 64 bits are stored as they were sent', async (t) => {
  const sent =
    '"params":{"ns":1795000000123456789,"max":18446744073709551615,"min":-9223372036854775808}'
  const device = { version_code: 'MARK', os: 'A' }
  const payload = withText('9223372036854775807', logBody({}, { device }))
  const gateway = await startGateway(t)
  const { printed } = await store(t, gateway, payload.replace('"event":', `${sent},"event":`))
  t.match(printed, sent)
  t.match(printed, '"version_code":9223372036854775807')
})

t.test('201: a double of the device may be any integer that a double holds', async (t) => {
  const gateway = await startGateway(t)
  const levels = '9007199254740994 -9223372036854775808 18446744073709549568 1e20 7'
  for (const level of levels.split(' ')) {
    const { printed } = await store(t, gateway, withDevice(`"battery_level":${level}`))
    t.equal(Number(/"battery_level":([^,}]*)/.exec(printed)?.[1]), Number(level))
  }
})

t.test('401 without a key, with a wrong key and with two keys; the body is not read', async (t) => {
  const gateway = await startGateway(t)
  const type = { 'content-type': 'application/json' }
  for (const key of [undefined, 'wrong', '', `${secret}, ${secret}`]) {
    const sent = { method: 'POST', url: '/api/log', payload: '{"broken' } as const
    const headers = key === undefined ? type : { ...type, 'x-api-key': key }
    const response = await gateway.app.inject({ ...sent, headers })
    t.match(response.json(), { status: 401, code: 'unauthorized' })
    t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  }
  t.equal(gateway.frames.logs.length, 0)
})

/** Creates a body of this size. */
const sized = (bytes: number) => {
  const empty = JSON.stringify(logBody({ params: { text: '' } }))
  return empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`)
}
const limit = 1024 * 1024
const nodes = (length: number) => logBody({ params: { list: Array.from({ length }, () => 0) } })
const json = JSON.stringify(logBody())
const ofType = (type: string): [string, Record<string, string>] => [json, { 'content-type': type }]

type Sent = string | Buffer | object | [payload: string, more: Record<string, string>]
/** What is refused: the code, and what is sent with the detail or the pointers of its errors. */
const refusals: [title: string, code: string, sent: [Sent, details?: string | string[]][]][] = [
  [
    '400 for an integer that its column cannot hold, with a pointer, or no type',
    'invalid_request',
    [
      [withDevice('"version_code":9223372036854775808'), ['/device/version_code']],
      [withDevice('"version_code":-9223372036854775809'), ['']],
      [withDevice('"sdk_version":1e17'), ['/device/sdk_version']],
      [withDevice('"battery_level":9007199254740993'), ['/device/battery_level']],
      [withDevice('"battery_level":9223372036854775807'), ['/device/battery_level']],
      [withDevice('"battery_level":"9007199254740994"'), ['/device/battery_level']],
      [withDevice('"unknown":{"SUBMITTED":18446744073709551617}'), ['']],
    ],
  ],
  [
    '400 with a pointer to each invalid field, without its value',
    'invalid_request',
    [
      [logBody({}, { log: undefined }), ['/log']],
      [logBody({}, { device_uuid: undefined }), ['/device_uuid']],
      [logBody({}, { device_uuid: 'not-a-uuid-SUBMITTED' }), ['/device_uuid']],
      [logBody({}, { unique_user_id: '' }), ['/unique_user_id']],
      [logBody({}, { bundle_identifier: 'x'.repeat(256) }), ['/bundle_identifier']],
      [logBody({ params: ['SUBMITTED'] }), ['/log/params']],
      [logBody({}, { device: { os: 1, sdk_version: 1.5 } }), ['/device/os', '/device/sdk_version']],
      [logBody({}, { device: { is_emulator: 'SUBMITTED' } }), ['/device/is_emulator']],
      [logBody({}, { device: { build_time: 1714557600 } }), ['/device/build_time']],
      [
        logBody({}, { device: { build_security_patch: ['2024-05-01'] } }),
        ['/device/build_security_patch'],
      ],
      [logBody({}, { device: { supported_abis: ['a', 1] } }), ['/device/supported_abis/1']],
      [logBody({}, { device: [] }), ['/device']],
    ],
  ],
  [
    '400 for invalid JSON, deep nesting, numbers out of range and two byte order marks',
    'invalid_json',
    [
      ['{"SUBMITTED'],
      [''],
      ['nul'],
      [withParam('1e999')],
      [`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
      [Buffer.from(`\ufeff\ufeff${json}`)],
      [Buffer.from('\ufeff')],
      ['{\n  "SUBMITTED": "SUBMITTED",\n}', 'The JSON cannot be parsed: line 3, column 1.'],
    ],
  ],
  [
    '400 for invalid UTF-8, and the byte order mark of another encoding',
    'invalid_encoding',
    [
      [Buffer.from([0x22, 0xff, 0x22])],
      [Buffer.from(`\ufeff${json}`, 'utf16le')],
      [Buffer.from('efbb', 'hex')],
    ],
  ],
  [
    '413 over 1 MiB, or for more members and elements than an event may have',
    'body_too_large',
    [[sized(limit + 1)], [nodes(10_000)], [nodes(200_000)]],
  ],
  [
    '415 for another content type or charset',
    'unsupported_media_type',
    [
      [ofType('text/plain')],
      [ofType('application/json; charset=iso-8859-1')],
      [ofType('multipart/form-data; boundary=x')],
    ],
  ],
]

for (const [title, code, cases] of refusals) {
  t.test(title, async (t) => {
    const gateway = await startGateway(t)
    for (const [sent, details] of cases) {
      const [payload, more] = Array.isArray(sent) ? sent : [sent, {}]
      const response = await sendLog(gateway, payload, more)
      const { status, detail, errors = [], ...problem } = response.json()
      t.same([status, problem.code], [Number(title.slice(0, 3)), code], String(payload))
      if (typeof details === 'string') t.equal(detail, details)
      const pointers = errors.map(({ pointer }: { pointer: string }) => pointer)
      t.same(pointers, Array.isArray(details) ? details : [])
      t.notMatch(response.body, 'SUBMITTED')
    }
    t.equal(gateway.frames.logs.length, 0)
  })
}

t.test('201 for a body of exactly 1 MiB', async (t) => {
  await store(t, await startGateway(t), sized(limit))
})

t.test('201: every label of UTF-8 is one, in any notation', async (t) => {
  const gateway = await startGateway(t)
  const payload = JSON.stringify(logBody({ params: { text: 'für' } }))
  const labels = 'utf-8 UTF-8 utf8 Utf8 unicode-1-1-utf-8 x-unicode20utf8 us-ascii "utf8" \'utf-8\''
  for (const label of [...labels.split(' '), '" utf-8 "']) {
    for (const type of [
      `application/json; charset=${label}`,
      `application/json;charset=${label}`,
      `application/json ; Charset = ${label}`,
      `Application/JSON; a=b; CHARSET=${label}; c=d`,
    ]) {
      const { row } = await store(t, gateway, payload, { 'content-type': type })
      t.match(row, { params: { text: 'für' } }, type)
    }
  }
})

t.test('201: a byte order mark before the JSON is ignored', async (t) => {
  const gateway = await startGateway(t)
  for (const text of ['\ufeffa', '\ufeff'.repeat(5_000)]) {
    const sent = Buffer.from(`\ufeff${JSON.stringify(logBody({ params: { text } }))}`)
    const zipped = { 'content-encoding': 'gzip' }
    for (const { row } of [
      await store(t, gateway, sent),
      await store(t, gateway, gzipSync(sent), zipped),
    ]) {
      t.match(row, { params: { text } })
    }
  }
  const inBatch = await sendBatch(gateway, `\ufeff${JSON.stringify(batch([{ event: 'e' }]))}`)
  t.match(inBatch.json(), { accepted: 1, rejected: 0 })
})

t.test('429 with Retry-After beyond the limit of the key, which the headers show', async (t) => {
  const gateway = await startGateway(t, { env: { RATE_LIMIT_MAX: '2' } })
  const headersWith = (remaining: number) => ({
    'ratelimit-limit': '2',
    'ratelimit-reset': '60',
    'ratelimit-remaining': String(remaining),
  })
  t.match((await store(t, gateway)).response.headers, headersWith(1))
  await store(t, gateway)
  const refused = await sendLog(gateway)
  t.match(refused.json(), { status: 429, code: 'rate_limited' })
  t.match(refused.headers, headersWith(0))
  t.ok(Number(refused.headers['retry-after']) > 0)
  const anonymous = await sendLog(gateway, logBody(), { 'x-api-key': '' })
  t.notOk('ratelimit-limit' in anonymous.headers, 'nothing before authentication')
  t.equal(gateway.frames.logs.length, 2)
})

t.test('keys, e-mails and texts are not logged, even if a request fails', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'The queue is down.')
  await sendLog(gateway, logBody({ params: { email: 'a@SUBMITTED.example' } }))
  await gateway.app.close()
  const log = gateway.log.join('')
  t.match(log, '"err"')
  t.notMatch(log, 'SUBMITTED')
  t.notMatch(log, secret)
})
