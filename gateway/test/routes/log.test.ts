import { gzipSync } from 'node:zlib'
import { decompress } from '@intake/queue/frame'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { headers, logBody, secret, startGateway } from '../support.ts'

const url = '/api/log'

t.test('201: the row contains the sent values and the id of the response', async (t) => {
  const { app, rows } = await startGateway(t)
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
  const response = await app.inject({
    method: 'POST',
    url,
    headers,
    payload: logBody({ params }, { device, future_field: 1 }),
  })
  t.equal(response.statusCode, 201)
  t.match(response.json(), { message: 'Log successfully created', id: String })
  const [row] = rows('logs')
  t.same(row, {
    id: response.json().id,
    time: row?.['time'],
    received_at: row?.['received_at'],
    request_id: row?.['request_id'],
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

t.test('201: time is the time in the id, and the time of arrival', async (t) => {
  const { app, rows } = await startGateway(t)
  await app.inject({ method: 'POST', url, headers, payload: logBody() })
  const [row] = rows('logs')
  const milliseconds = Number.parseInt(String(row?.['id']).replace('-', '').slice(0, 12), 16)
  t.equal(row?.['time'], new Date(milliseconds).toISOString())
  t.equal(row?.['received_at'], row?.['time'])
})

t.test('201: missing or null params are stored as an empty object', async (t) => {
  const { app, rows } = await startGateway(t)
  await app.inject({ method: 'POST', url, headers, payload: logBody() })
  await app.inject({ method: 'POST', url, headers, payload: logBody({ params: null }) })
  t.strictSame(
    rows('logs').map((row) => row['params']),
    [{}, {}],
  )
})

t.test('201: a device property named __proto__ is kept like any other', async (t) => {
  const { app, rows } = await startGateway(t)
  const payload = JSON.stringify(logBody()).replace('"os"', '"__proto__":{"a":1},"os"')
  const response = await app.inject({ method: 'POST', url, headers, payload })
  t.equal(response.statusCode, 201)
  t.match(JSON.stringify(rows('logs')[0]), '"device_extra":{"__proto__":{"a":1}}')
})

t.test(
  '201: a text of the device that is too long for a name is kept whole beside it',
  async (t) => {
    const { app, rows } = await startGateway(t)
    const [fits, long] = ['😀'.repeat(255), 'v'.repeat(256)]
    const device = { os: fits, version_name: long, supported_abis: ['arm64', long], product: 'p' }
    const send = (path: string, payload: object) =>
      app.inject({ method: 'POST', url: path, headers, payload })
    const { log, ...others } = logBody() as { log: object }
    const sender = { ...others, device }
    t.equal((await send('/api/log', { ...sender, log })).statusCode, 201)
    t.equal((await send('/api/log/batch', { ...sender, logs: [log] })).statusCode, 207)
    for (const row of rows('logs')) {
      t.same(row['device'], { os: fits, product: 'p' })
      t.same(row['device_extra'], { version_name: long, supported_abis: ['arm64', long] })
    }
  },
)

t.test('201: integers of 64 bits are stored as they were sent', async (t) => {
  const { app, frames } = await startGateway(t)
  const sent =
    '"params":{"ns":1795000000123456789,"max":18446744073709551615,"min":-9223372036854775808}'
  const payload = JSON.stringify(logBody({}, { device: { version_code: 'INT64', os: 'A' } }))
    .replace('"INT64"', '9223372036854775807')
    .replace('"event":', `${sent},"event":`)
  const response = await app.inject({ method: 'POST', url, headers, payload })
  t.equal(response.statusCode, 201)
  const json = decompress(frames.logs[0]!).toString()
  t.match(json, sent)
  t.match(json, '"version_code":9223372036854775807')
})

t.test('201: a number that a double holds is the same in any notation', async (t) => {
  const { app, rows } = await startGateway(t)
  for (const n of [
    '1e20',
    '100000000000000000000',
    '18446744073709552000',
    '18446744073709551616',
  ]) {
    const payload = JSON.stringify(logBody({ params: { n: 'N' } })).replace('"N"', n)
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.equal(response.statusCode, 201, n)
  }
  t.same(
    rows('logs').map(({ params }) => params),
    [{ n: 1e20 }, { n: 1e20 }, { n: 2 ** 64 }, { n: 2 ** 64 }],
  )
})

t.test('201: a double of the device may be any integer that a double holds', async (t) => {
  const { app, frames } = await startGateway(t)
  const sent = ['9007199254740994', '-9223372036854775808', '18446744073709549568', '1e20', '7']
  for (const level of sent) {
    const payload = JSON.stringify(logBody()).replace('"os":', `"battery_level":${level},"os":`)
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.equal(response.statusCode, 201, level)
  }
  const levels = frames.logs.map(
    (frame) => /"battery_level":([^,}]*)/.exec(decompress(frame).toString())?.[1],
  )
  t.same(levels.map(Number), sent.map(Number))
})

t.test('400 with a pointer for an integer that its column cannot hold, or no type', async (t) => {
  const { app, frames } = await startGateway(t)
  const cases: [string, string][] = [
    ['"version_code":9223372036854775808', '/device/version_code'],
    ['"version_code":-9223372036854775809', '/device/version_code'],
    ['"sdk_version":1e17', '/device/sdk_version'],
    ['"battery_level":9007199254740993', '/device/battery_level'],
    ['"battery_level":9223372036854775807', '/device/battery_level'],
    ['"battery_level":"9007199254740994"', '/device/battery_level'],
    ['"unknown":{"SENT":18446744073709551617}', '/device'],
  ]
  for (const [field, pointer] of cases) {
    const payload = JSON.stringify(logBody()).replace('"os":', `${field},"os":`)
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.match(response.json(), { status: 400, code: 'invalid_request', errors: [{ pointer }] })
    t.equal(response.json().errors.length, 1)
    t.notMatch(response.body, 'SENT')
  }
  t.equal(frames.logs.length, 0)
})

t.test('201: a name with an escape is stored decoded', async (t) => {
  const { app, rows } = await startGateway(t)
  const body = JSON.stringify(logBody({ params: { NAME: 1 } }))
  for (const name of [String.raw`\\`, String.raw`\"`, String.raw`gr\u00f6\u00dfe`]) {
    const payload = body.replace('NAME', () => name)
    t.equal((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 201)
  }
  t.same(
    rows('logs').map(({ params }) => params),
    [{ '\\': 1 }, { '"': 1 }, { größe: 1 }],
  )
})

t.test('413 for more members and elements than an event may have', async (t) => {
  const { app, frames } = await startGateway(t)
  for (const length of [10_000, 200_000]) {
    const payload = logBody({ params: { list: Array.from({ length }, () => 0) } })
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.match(response.json(), { status: 413, code: 'body_too_large' })
  }
  t.equal(frames.logs.length, 0)
})

t.test('401 without a key, with a wrong key and with two keys; the body is not read', async (t) => {
  const { app, frames } = await startGateway(t)
  for (const key of [undefined, 'wrong', '', `${secret}, ${secret}`]) {
    const response = await app.inject({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { 'x-api-key': key }),
      },
      payload: '{"broken',
    })
    t.equal(response.statusCode, 401)
    t.equal(response.json().code, 'unauthorized')
    t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  }
  t.equal(frames.logs.length, 0)
})

t.test('403 for a bundle identifier that the key is not for', async (t) => {
  const { app, frames } = await startGateway(t, { key: { bundleIdentifiers: ['com.other'] } })
  const response = await app.inject({ method: 'POST', url, headers, payload: logBody() })
  t.match(response.json(), { status: 403, code: 'bundle_not_allowed' })
  t.equal(frames.logs.length, 0)
})

t.test('400 with a pointer to each invalid field, without its value', async (t) => {
  const { app, frames } = await startGateway(t)
  const cases: [object, string[]][] = [
    [{ log: undefined }, ['/log']],
    [{ device_uuid: undefined }, ['/device_uuid']],
    [{ device_uuid: 'not-a-uuid-SUBMITTED' }, ['/device_uuid']],
    [{ unique_user_id: '' }, ['/unique_user_id']],
    [{ bundle_identifier: 'x'.repeat(256) }, ['/bundle_identifier']],
    [{ log: { event: 'e', params: ['SUBMITTED'] } }, ['/log/params']],
    [{ device: { os: 1, sdk_version: 1.5 } }, ['/device/os', '/device/sdk_version']],
    [{ device: { is_emulator: 'SUBMITTED' } }, ['/device/is_emulator']],
    [{ device: { build_time: 1714557600 } }, ['/device/build_time']],
    [{ device: { build_security_patch: ['2024-05-01'] } }, ['/device/build_security_patch']],
    [{ device: { supported_abis: ['a', 1] } }, ['/device/supported_abis/1']],
    [{ device: [] }, ['/device']],
  ]
  for (const [change, pointers] of cases) {
    const response = await app.inject({
      method: 'POST',
      url,
      headers,
      payload: logBody({}, change),
    })
    t.equal(response.statusCode, 400, JSON.stringify(change))
    t.equal(response.json().code, 'invalid_request')
    t.same(
      response.json().errors.map((error: { pointer: string }) => error.pointer),
      pointers,
    )
    t.notMatch(response.body, 'SUBMITTED')
  }
  t.equal(frames.logs.length, 0)
})

t.test('400 for invalid JSON, invalid UTF-8, deep nesting and numbers out of range', async (t) => {
  const { app, frames } = await startGateway(t)
  const deep = `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`
  const cases: [string | Buffer, string][] = [
    ['{"SUBMITTED', 'invalid_json'],
    ['', 'invalid_json'],
    ['nul', 'invalid_json'],
    [JSON.stringify(logBody({ params: { n: 7 } })).replace('7', '1e999'), 'invalid_json'],
    [deep, 'invalid_json'],
    [Buffer.from([0x22, 0xff, 0x22]), 'invalid_encoding'],
  ]
  for (const [payload, code] of cases) {
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.match(response.json(), { status: 400, code })
    t.notMatch(response.body, 'SUBMITTED')
  }
  const payload = '{\n  "SUBMITTED": "SUBMITTED",\n}'
  const { detail } = (await app.inject({ method: 'POST', url, headers, payload })).json()
  t.equal(detail, 'The JSON cannot be parsed: line 3, column 1.')
  t.equal(frames.logs.length, 0)
})

t.test('413 over 1 MiB; a body of exactly that size is accepted', async (t) => {
  const { app, rows } = await startGateway(t)
  const sized = (bytes: number) => {
    const empty = JSON.stringify(logBody({ params: { text: '' } }))
    return empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`)
  }
  const limit = 1024 * 1024
  const over = await app.inject({ method: 'POST', url, headers, payload: sized(limit + 1) })
  t.match(over.json(), { status: 413, code: 'body_too_large' })
  const exact = await app.inject({ method: 'POST', url, headers, payload: sized(limit) })
  t.equal(exact.statusCode, 201)
  t.equal(rows('logs').length, 1)
})

t.test('201: every label of UTF-8 is one, in any notation', async (t) => {
  const gateway = await startGateway(t)
  const payload = JSON.stringify(logBody({ params: { text: 'für' } }))
  for (const label of [
    'utf-8',
    'UTF-8',
    'utf8',
    'Utf8',
    'unicode-1-1-utf-8',
    'x-unicode20utf8',
    'us-ascii',
    '"utf8"',
    "'utf-8'",
    '" utf-8 "',
  ]) {
    for (const type of [
      `application/json; charset=${label}`,
      `application/json;charset=${label}`,
      `application/json ; Charset = ${label}`,
      `Application/JSON; a=b; CHARSET=${label}; c=d`,
    ]) {
      const sent = { ...headers, 'content-type': type }
      const response = await gateway.app.inject({ method: 'POST', url, headers: sent, payload })
      t.equal(response.statusCode, 201, type)
      t.match(gateway.rows('logs').at(-1), { params: { text: 'für' } })
    }
  }
})

t.test('201: a byte order mark before the JSON is ignored', async (t) => {
  const gateway = await startGateway(t)
  const large = { event: 'e', params: { text: '\ufeff'.repeat(5_000) } }
  for (const log of [{ event: 'e', params: { text: '\ufeffa' } }, large]) {
    const json = Buffer.from(`\ufeff${JSON.stringify(logBody(log))}`)
    const gzipped = { ...headers, 'content-encoding': 'gzip' }
    for (const sent of [
      { headers, payload: json },
      { headers: gzipped, payload: gzipSync(json) },
    ]) {
      const response = await gateway.app.inject({ method: 'POST', url, ...sent })
      t.equal(response.statusCode, 201)
      t.match(gateway.rows('logs').at(-1), log)
    }
  }
  const batch = { ...logBody({}, { logs: [{ event: 'e' }] }), log: undefined }
  const payload = `\ufeff${JSON.stringify(batch)}`
  const inBatch = await gateway.app.inject({
    method: 'POST',
    url: `${url}/batch`,
    headers,
    payload,
  })
  t.match(inBatch.json(), { accepted: 1, rejected: 0 })
})

t.test('400 for two byte order marks, and one of another encoding', async (t) => {
  const { app } = await startGateway(t)
  const json = JSON.stringify(logBody())
  for (const [payload, code] of [
    [Buffer.from(`\ufeff\ufeff${json}`), 'invalid_json'],
    [Buffer.from('\ufeff'), 'invalid_json'],
    [Buffer.from(`\ufeff${json}`, 'utf16le'), 'invalid_encoding'],
    [Buffer.from('efbb', 'hex'), 'invalid_encoding'],
  ] as const) {
    const response = await app.inject({ method: 'POST', url, headers, payload })
    t.match(response.json(), { status: 400, code })
  }
})

t.test('415 for another content type, charset or content encoding', async (t) => {
  const { app } = await startGateway(t)
  const cases: [object, string][] = [
    [{ 'content-type': 'text/plain' }, 'unsupported_media_type'],
    [{ 'content-type': 'application/json; charset=iso-8859-1' }, 'unsupported_media_type'],
    [{ 'content-type': 'multipart/form-data; boundary=x' }, 'unsupported_media_type'],
    [{ 'content-encoding': 'br' }, 'unsupported_encoding'],
  ]
  for (const [change, code] of cases) {
    const response = await app.inject({
      method: 'POST',
      url,
      headers: { ...headers, ...change },
      payload: JSON.stringify(logBody()),
    })
    t.match(response.json(), { status: 415, code })
  }
  const utf8 = { ...headers, 'content-type': 'application/json; charset=UTF-8' }
  const response = await app.inject({ method: 'POST', url, headers: utf8, payload: logBody() })
  t.equal(response.statusCode, 201)
})

t.test('429 with Retry-After beyond the limit of the key, which the headers show', async (t) => {
  const { app, frames } = await startGateway(t, {
    env: { RATE_LIMIT_MAX: '2' },
  })
  const send = () => app.inject({ method: 'POST', url, headers, payload: logBody() })
  const limit = { 'ratelimit-limit': '2', 'ratelimit-reset': '60' }
  const first = await send()
  t.equal(first.statusCode, 201)
  t.match(first.headers, { ...limit, 'ratelimit-remaining': '1' })
  t.equal((await send()).statusCode, 201)
  const refused = await send()
  t.match(refused.json(), { status: 429, code: 'rate_limited' })
  t.match(refused.headers, { ...limit, 'ratelimit-remaining': '0' })
  const anonymous = await app.inject({ method: 'POST', url, payload: logBody() })
  t.notOk('ratelimit-limit' in anonymous.headers, 'nothing before authentication')
  t.ok(Number(refused.headers['retry-after']) > 0)
  t.equal(frames.logs.length, 2)
})

t.test('503 while the queue is unavailable or does not respond', async (t) => {
  const { app, fail } = await startGateway(t)
  for (const code of ['queue_unavailable', 'outcome_unknown'] as const) {
    fail.enqueue = new IntakeError(code, 'The queue is down.')
    const response = await app.inject({ method: 'POST', url, headers, payload: logBody() })
    t.match(response.json(), { status: 503, code })
    t.ok(Number(response.headers['retry-after']) > 0)
  }
})

t.test('refusals are logged together, with one of their request ids', async (t) => {
  const { app, log, fail } = await startGateway(t)
  fail.enqueue = new IntakeError('queue_full', 'Redis is full.')
  const send = () => app.inject({ method: 'POST', url, headers, payload: logBody() })
  const responses = await Promise.all(Array.from({ length: 50 }, send))
  const ids = responses.map((response) => response.json().request_id)
  await app.close()
  const lines = log.map((line) => JSON.parse(line)).filter(({ code }) => code === 'queue_full')
  t.match(lines, [{ apiKeyId: 'key_1', msg: 'requests refused' }])
  t.equal(
    lines.reduce((sum, { count }) => sum + count, 0),
    50,
  )
  t.ok(ids.includes(lines[0].requestId))
})

t.test('503, not 401, until the API keys have been read', async (t) => {
  const { app } = await startGateway(t, { keysLoaded: false })
  const response = await app.inject({ method: 'POST', url, headers, payload: logBody() })
  t.equal(response.statusCode, 503)
})

t.test('keys, e-mails and texts are not logged, even if a request fails', async (t) => {
  const { app, log, fail } = await startGateway(t)
  fail.enqueue = new IntakeError('queue_unavailable', 'The queue is down.')
  const payload = logBody({ params: { email: 'a@SUBMITTED.example' } })
  await app.inject({ method: 'POST', url, headers, payload })
  await app.close()
  t.match(log.join(''), '"err"')
  t.notMatch(log.join(''), 'SUBMITTED')
  t.notMatch(log.join(''), secret)
})
