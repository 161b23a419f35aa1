import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { keyLimitNames, type ApiKey, type KeyLimits } from '@intake/access'
import { IntakeError } from '@intake/contract'
import { limitTable } from '../../src/admission/limits.ts'
import { batch as batchOf } from '../batches.ts'
import { payload, file, send as sendForm, type Part, refusal } from '../forms.ts'
import { headers, images, logBody, post, sendLog, startGateway } from '../support.ts'

const midday = Date.UTC(2026, 10, 26, 12)

/**
 * Starts a gateway for a key with these limits. The test may move `time.ms`, by which days are
 * counted.
 */
async function start(t: Test, limits: KeyLimits, env: Record<string, string> = {}) {
  const key: Partial<ApiKey> = { limits }
  const time = { ms: midday }
  const gateway = await startGateway(t, { env, key, wallMs: () => time.ms })
  return { gateway, time }
}

/** The header of a body that is refused before it is read. */
const unread = { 'content-length': '1000000000000' }

const device = (number: number) => `6f9619ff-8b86-4d01-b42d-${String(number).padStart(12, '0')}`

const batch = (entries: number) =>
  batchOf(Array.from({ length: entries }, () => ({ event: 'tap' })))

t.test('429: a key has its own number of requests', async (t) => {
  const { gateway } = await start(t, { requestsPerMinute: 2 }, { RATE_LIMIT_MAX: '1' })
  t.match(await sendLog(gateway), {
    statusCode: 201,
    headers: { 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '60' },
  })
  await sendLog(gateway)
  const refused = await sendLog(gateway)
  t.match(refused.json(), { status: 429, code: 'rate_limited' })
})

t.test('429: every limit of a key is enforced', async (t) => {
  for (const name of keyLimitNames) {
    const { gateway } = await start(t, { [name]: 1 })
    const isOfLogs = (limitTable[name].kinds as readonly string[]).includes('logs')
    const send = async () =>
      isOfLogs
        ? (await sendLog(gateway)).statusCode
        : (await sendForm(gateway, [payload(), file(images.png)])).status
    t.same([await send(), await send()], [201, 429], name)
  }
})

t.test('429: events are counted, not requests', async (t) => {
  const { gateway } = await start(t, { eventsPerMinute: 10 })
  const url = '/api/log/batch'
  t.equal((await post(gateway, url, batch(6))).statusCode, 207)
  const refused = await post(gateway, url, batch(6))
  t.match(refused.json(), { status: 429, code: 'rate_limited', detail: /events/ })
  t.ok(Number(refused.headers['retry-after']) > 0 && Number(refused.headers['retry-after']) <= 60)
  t.equal((await post(gateway, url, batch(4))).statusCode, 207, 'what is left can be used')
  const early = await sendLog(gateway, {}, unread)
  t.equal(early.json().code, 'rate_limited', 'nothing is read when nothing is left')
  t.equal(gateway.rows('logs').length, 10)
})

t.test('429: bytes of events are counted after decompression, and given back', async (t) => {
  const padded = logBody({ params: { text: 'x'.repeat(10_000) } })
  const bytes = JSON.stringify(padded).length
  const { gateway } = await start(t, { logBytesPerMinute: 2 * bytes })
  const zipped = gzipSync(JSON.stringify(padded))
  const send = () => sendLog(gateway, zipped, { 'content-encoding': 'gzip' })
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'Down.')
  for (let sent = 0; sent < 3; sent++) t.equal((await send()).statusCode, 503)
  delete gateway.fail.enqueue
  t.equal((await send()).statusCode, 201)
  t.equal((await sendLog(gateway)).statusCode, 201)
  const refused = await send()
  t.match(refused.json(), { status: 429, code: 'rate_limited', detail: /bytes of events/ })
  t.ok(Number(refused.headers['retry-after']) > 0)
  t.equal((await sendLog(gateway)).statusCode, 201, 'a small one has room')
  t.equal((await sendForm(gateway, [payload()])).status, 201, 'feedback is no event')
  const small = await start(t, { logBytesPerMinute: 1 })
  t.equal((await sendLog(small.gateway)).statusCode, 201, 'a larger one, alone')
  const early = await sendLog(small.gateway, {}, unread)
  t.match(early.json(), { code: 'rate_limited', detail: /bytes of events/ })
})

t.test('a batch that is larger than the limit is accepted alone', async (t) => {
  const { gateway } = await start(t, { eventsPerMinute: 10, eventsPerDay: 10 })
  t.equal((await post(gateway, '/api/log/batch', batch(30))).statusCode, 207)
  t.equal((await sendLog(gateway)).statusCode, 429)
})

t.test('429: feedback and bytes of attachments have limits of their own', async (t) => {
  const { gateway } = await start(t, { feedbackPerMinute: 2, eventsPerMinute: 1 })
  await sendLog(gateway)
  t.equal((await sendForm(gateway, [payload()])).status, 201)
  t.equal((await sendForm(gateway, [payload()])).status, 201)
  t.match(await sendForm(gateway, [payload()]), refusal(429, 'rate_limited'))

  const bytes = images.png.length
  const pictures = await start(t, { attachmentBytesPerMinute: 2 * bytes })
  const picture = [payload(), file(images.png)]
  t.equal((await sendForm(pictures.gateway, picture)).status, 201)
  t.equal((await sendForm(pictures.gateway, [...picture, file(images.png)])).status, 429)
  t.equal((await sendForm(pictures.gateway, picture)).status, 201)
  t.equal(pictures.gateway.objects.size, 2, 'a refused picture is not stored')
  const log = await sendLog(pictures.gateway, logBody())
  t.equal(log.statusCode, 201, 'log events have no attachments')
})

t.test('429: a budget is spent until midnight UTC', async (t) => {
  const { gateway, time } = await start(t, { eventsPerDay: 3 })
  for (const _ of [1, 2, 3]) t.equal((await sendLog(gateway)).statusCode, 201)
  const refused = await sendLog(gateway)
  t.match(refused.json(), { status: 429, code: 'budget_exhausted' })
  t.equal(refused.headers['retry-after'], String(12 * 3_600))
  t.equal((await sendForm(gateway, [payload()])).status, 201, 'feedback is no event')
  time.ms = midday + 12 * 3_600_000 - 1
  t.equal((await sendLog(gateway)).headers['retry-after'], '1')
  time.ms++
  t.equal((await sendLog(gateway)).statusCode, 201)
})

t.test('429: bytes have a budget, for events and all parts of feedback together', async (t) => {
  const body = logBody()
  const form: Part[] = [payload(), file(images.png), ['note', 'x'.repeat(5_000)]]
  const size = JSON.stringify(body).length
  const bytes = form.reduce((sum, [, sent]) => sum + sent.length, 2 * size)
  for (const [bytesPerDay, last] of [
    [bytes - 1, 429],
    [bytes, 201],
  ] as const) {
    const { gateway } = await start(t, { bytesPerDay })
    t.equal((await sendLog(gateway, body)).statusCode, 201)
    t.equal((await sendForm(gateway, form)).status, 201)
    t.equal((await sendLog(gateway, body)).statusCode, last)
    t.match((await sendLog(gateway, body)).json(), { status: 429, code: 'budget_exhausted' })
  }
})

t.test('what is refused later uses nothing up', async (t) => {
  const { gateway } = await start(t, { eventsPerMinute: 1, eventsPerDay: 1, bytesPerDay: 500 })
  for (let sent = 0; sent < 3; sent++) {
    const wrong = logBody({ id: '01700000-0000-7000-8000-000000000000' })
    t.equal((await sendLog(gateway, wrong)).statusCode, 422)
  }
  t.equal((await sendLog(gateway)).statusCode, 201)
})

t.test('pictures that are not stored use nothing up', async (t) => {
  const { gateway } = await start(t, { attachmentBytesPerMinute: images.png.length })
  const form = [payload(), file(images.png)]
  gateway.fail.put = new IntakeError('storage_unavailable', 'Down.')
  t.equal((await sendForm(gateway, form)).status, 503)
  delete gateway.fail.put
  t.equal((await sendForm(gateway, form)).status, 201)
  t.equal((await sendForm(gateway, form)).status, 429)
})

t.test('records that a rule leaves out use no budget of the day', async (t) => {
  const dropped = { event: 'noise' }
  const key = { limits: { eventsPerDay: 2, bytesPerDay: 3_000 } }
  const gateway = await startGateway(t, {
    key,
    rules: [{ action: 'drop', match: { event: 'noise' } }],
    wallMs: () => midday,
  })
  for (let sent = 0; sent < 20; sent++) {
    t.equal((await sendLog(gateway, logBody(dropped))).statusCode, 201)
  }
  const mixed = batchOf([dropped, { event: 'tap' }, dropped])
  t.equal((await post(gateway, '/api/log/batch', mixed)).json().accepted, 3)
  t.equal((await sendLog(gateway)).statusCode, 201)
  t.match((await sendLog(gateway)).json(), { code: 'budget_exhausted' })
})

t.test('what was used stays used when the record may be stored', async (t) => {
  for (const code of ['outcome_unknown', 'internal_error'] as const) {
    const { gateway } = await start(t, { eventsPerMinute: 1 })
    gateway.fail.enqueue = new IntakeError(code, 'No reply.')
    t.match((await sendLog(gateway)).json(), { code })
    delete gateway.fail.enqueue
    t.match((await sendLog(gateway)).json(), { code: 'rate_limited' })
  }
})

t.test('429: what a key may not send uses nothing up of a device', async (t) => {
  const { gateway } = await start(t, { eventsPerMinute: 10, deviceEventsPerMinute: 20 })
  t.equal((await post(gateway, '/api/log/batch', batch(9))).statusCode, 207)
  for (let sent = 0; sent < 5; sent++) {
    t.match((await post(gateway, '/api/log/batch', batch(9))).json(), { detail: /events/ })
  }
  t.equal((await sendLog(gateway)).statusCode, 201)
})

t.test('429: a device that sends 100 times its share takes nothing from the others', async (t) => {
  const share = 5
  const limits = { requestsPerMinute: 200, eventsPerMinute: 200 }
  const { gateway } = await start(t, { deviceEventsPerMinute: share, ...limits })
  const send = async (number: number) =>
    (await sendLog(gateway, logBody({}, { device_uuid: device(number) }))).statusCode
  let accepted = 0
  let others = 0
  for (let sent = 0; sent < 100 * share; sent++) {
    if ((await send(0)) === 201) accepted++
    if (sent % 50 === 0 && (await send(sent + 1)) !== 201) others++
  }
  t.equal(accepted, share)
  t.equal(others, 0, 'no other device is refused')
  const refused = await sendLog(gateway, logBody({}, { device_uuid: device(0) }))
  t.match(refused.json(), { code: 'rate_limited', detail: /device/ })
  t.ok(Number(refused.headers['retry-after']) > 0)
})

/** A gateway whose device 0 has used up the count of requests of devices beyond their share. */
async function startFlooded(t: Test) {
  const requestsMax = 40
  const limits = { deviceEventsPerMinute: 1, requestsPerMinute: requestsMax }
  const { gateway } = await start(t, limits)
  const of = (number: number) => logBody({}, { device_uuid: device(number) })
  for (let sent = 0; sent < requestsMax + 2; sent++) await sendLog(gateway, of(0))
  return { gateway, requestsMax, of }
}

t.test('429: beyond the limit of requests, a device beyond its share is not parsed', async (t) => {
  const { gateway, requestsMax, of } = await startFlooded(t)
  const broken = `${JSON.stringify(of(0))} broken`
  // Bytes that do not compress, so that the broken end is far from the beginning.
  const params = { random: randomBytes(400_000).toString('base64') }
  const cutOff = (body: object) => gzipSync(JSON.stringify({ ...body, params })).subarray(0, -8)
  const gzip = { 'content-encoding': 'gzip' }
  for (let sent = 0; sent < 3 * requestsMax; sent++) await sendLog(gateway, broken)
  for (const [body, more] of [
    [broken, {}],
    [broken.replace('"device_uuid":', '"device_uuid" :\n  '), {}],
    [gzipSync(broken), gzip],
    [cutOff(of(0)), gzip],
    [`${broken}${' '.repeat(100_000)}`, {}],
  ] as const) {
    const response = await sendLog(gateway, body, more)
    t.match(response.json(), { code: 'rate_limited', detail: /device/ })
    t.ok(Number(response.headers['retry-after']) > 0)
  }
  for (const number of [1, 2, 3]) {
    t.equal((await sendLog(gateway, of(number))).statusCode, 201, 'another device is not affected')
  }
  t.match((await sendLog(gateway, cutOff(of(4)), gzip)).json(), { code: 'invalid_encoding' })
})

t.test('201: a device whose event only mentions a device beyond its share', async (t) => {
  const { gateway, of } = await startFlooded(t)
  const mentioned = device(0)
  const mentions = [
    { device_uuid: mentioned },
    { list: [{ device_uuid: mentioned }, '}'], text: '\\"}]{[' },
    { 'a\\': 'device_uuid', text: `"device_uuid": "${mentioned}"` },
  ]
  for (const [index, params] of mentions.entries()) {
    const { device_uuid, ...rest } = of(index + 1)
    const body = { params, log: { event: 'sync', params }, ...rest, device_uuid }
    t.equal((await sendLog(gateway, body)).statusCode, 201)
  }
})

t.test('429: the limit of requests holds for a device that hides', async (t) => {
  const { gateway, requestsMax, of } = await startFlooded(t)
  const hidden = JSON.stringify(of(0)).replace('device_uuid', 'device\\u005fuuid')
  for (let sent = 0; sent < requestsMax; sent++) await sendLog(gateway, hidden)
  const early = await sendLog(gateway, {}, unread)
  t.match(early.json(), { code: 'rate_limited', detail: /Retry-After/ })
})

t.test('403: a suspended key refuses before the body, or while it arrives', async (t) => {
  const gateway = await startGateway(t)
  const body = JSON.stringify(batch(3))
  async function* sending() {
    yield body.slice(0, 20)
    gateway.apiKey.suspendedAt = '2026-11-26T00:00:00.000Z'
    yield body.slice(20)
  }
  for (const response of [
    await post(gateway, '/api/log/batch', Readable.from(sending())),
    await sendLog(gateway, {}, unread),
  ]) {
    t.match(response.json(), { status: 403, code: 'key_suspended' })
    const seconds = Number(response.headers['retry-after'])
    t.ok(seconds >= 300 && seconds <= 600, `${seconds} s`)
  }
  t.same(gateway.rows('logs'), [])
})

t.test('403: a prefix is for the applications below it', async (t) => {
  const gateway = await startGateway(t, { key: { bundleIdentifiers: ['com.a', 'com.example.*'] } })
  const send = async (bundle: string) =>
    (await sendLog(gateway, logBody({}, { bundle_identifier: bundle }))).statusCode
  for (const bundle of ['com.a', 'com.example.app', 'com.example.a.b']) {
    t.equal(await send(bundle), 201, bundle)
  }
  for (const bundle of ['com.example', 'com.exampled.app', 'com.a.b', 'org.com.example.app']) {
    t.equal(await send(bundle), 403, bundle)
  }
})

t.test('429: an address gets so many 401; valid keys are not affected', async (t) => {
  const gateway = await startGateway(t, { env: { TRUST_PROXY: '1' } })
  const send = (key: string, address: string) =>
    sendLog(gateway, logBody(), { 'x-api-key': key, 'x-forwarded-for': address })
  const valid = headers['x-api-key']
  let refused = 0
  let last = await send('wrong', '2001:db8::1')
  while (last.statusCode === 401) {
    refused++
    last = await send('wrong', `2001:db8::${(refused % 65_000).toString(16)}`)
  }
  t.equal(refused, 6_000, 'addresses of one /64 count as one')
  t.match(last.json(), { status: 429, code: 'rate_limited' })
  t.ok(Number(last.headers['retry-after']) > 0)
  t.equal((await send(valid, '2001:db8::1')).statusCode, 201)
  t.equal((await send('wrong', '2001:db8:0:1::1')).statusCode, 401)
})
