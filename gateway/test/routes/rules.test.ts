import t, { type Test } from 'tap'
import type { RuleChoice } from '@intake/access'
import { batch, copies, send as sendBatch } from '../batches.ts'
import { file, payload, send as sendForm, refusal } from '../forms.ts'
import { countsOf, images, logBody, sendKeyed, startGateway, type TestGateway } from '../support.ts'

const counted = (gateway: TestGateway) =>
  countsOf(gateway, ({ kind, code, rule }) => `${kind} ${code} ${rule ?? ''}`).toSorted()

const start = (t: Test, ...rules: RuleChoice[]) => startGateway(t, { rules })

const ofApp = { bundle: 'com.example.app' }

t.test('201: a dropped event is acknowledged with the id of its key, not stored', async (t) => {
  const gateway = await start(t, { action: 'drop', match: { ...ofApp, event: 'noise' } })
  const first = await sendKeyed(gateway, logBody({ event: 'noise' }), 'key')
  t.equal(first.status, 201)
  t.equal((await sendKeyed(gateway, logBody({ event: 'noise' }), 'key')).body.id, first.body.id)
  t.equal((await sendKeyed(gateway, logBody({ event: 'tap' }))).status, 201)
  t.match(gateway.rows('logs'), [{ event: 'tap' }])
  t.same(counted(gateway), ['logs accepted : 1', 'logs dropped rule_000000000001: 2'])
})

t.test('207: an entry says dropped, and the others are as usual', async (t) => {
  const gateway = await start(t, { action: 'drop', match: { eventPrefix: 'noise_' } })
  const id = '0b000000-0000-4000-8000-000000000001'
  const logs = [{ event: 'noise_1', id }, { event: 'tap' }, { event: 1 }, { event: 'noise_1', id }]
  const response = await sendBatch(gateway, batch(logs))
  t.match(response.json(), {
    accepted: 3,
    rejected: 1,
    results: [
      { status: 'dropped', id: String },
      { status: 'accepted', id: String },
      { status: 'rejected', code: 'invalid_request' },
      { status: 'dropped', id: String },
    ],
  })
  t.match(gateway.rows('logs'), [{ event: 'tap' }])
  t.equal(gateway.rows('logs').length, 1)
  t.same(counted(gateway), [
    'logs accepted : 1',
    'logs dropped rule_000000000001: 2',
    'logs invalid_request : 1',
  ])
  const all = await sendBatch(gateway, batch([{ event: 'noise_1' }, { event: 'noise_2' }]))
  t.match(all.json(), { accepted: 2, results: [{ status: 'dropped' }, { status: 'dropped' }] })
  t.equal(gateway.rows('logs').length, 1)
})

t.test('207: a repeat of an entry that is rejected is rejected, and counted so', async (t) => {
  const gateway = await start(t, { action: 'drop', match: { event: 'noise' } })
  const logs = copies(2, { event: 'noise', id: '01700000-0000-7000-8000-000000000000' })
  t.match((await sendBatch(gateway, batch(logs))).json(), { accepted: 0, rejected: 2 })
  t.same(counted(gateway), ['logs id_time_out_of_range : 2'])
})

t.test('201: a dropped feedback is acknowledged; nor are its pictures stored', async (t) => {
  const gateway = await start(t, { action: 'drop', match: { os: 'android' } })
  t.match(await sendForm(gateway, [payload(), file(images.png)]), {
    status: 201,
    body: { attachments: [{ status: 'stored' }] },
  })
  t.same([gateway.frames.feedback, gateway.objects.size], [[], 0])
  t.same(counted(gateway), ['feedback dropped rule_000000000001: 1'])
})

t.test('201: a device is sampled as a whole, and its rows have the rate', async (t) => {
  const gateway = await start(t, { action: 'sample', rate: 0.5, match: { eventPrefix: 'screen' } })
  const logs = [{ event: 'screen_b' }, { event: 'tap' }]
  for (let n = 0; n < 64; n++) {
    const device_uuid = `6f9619ff-8b86-4d01-b42d-${String(n).padStart(12, '0')}`
    await sendKeyed(gateway, logBody({ event: 'screen_a' }, { device_uuid }))
    await sendBatch(gateway, batch(logs, { device_uuid: device_uuid.toUpperCase() }))
  }
  const rows = gateway.rows('logs')
  const of = (event: string) =>
    rows
      .filter((row) => row['event'] === event)
      .map((row) => `${String(row['device_uuid']).toLowerCase()} ${String(row['sample_rate'])}`)
  t.same(of('screen_a'), of('screen_b'))
  const sampled = of('screen_a').length
  t.ok(sampled > 0 && sampled < 64, `${sampled} of 64`)
  t.ok(of('screen_a').every((one) => one.endsWith(' 0.5')))
  t.equal(of('tap').length, 64, 'other events are not sampled')
  t.ok(of('tap').every((one) => one.endsWith(' undefined')))
  const left = 64 - sampled
  t.same(counted(gateway), [
    `logs accepted : ${rows.length}`,
    `logs sampled rule_000000000001: ${2 * left}`,
  ])
})

t.test('201: fields are removed and hashed in every form of a log event', async (t) => {
  const gateway = await start(
    t,
    { action: 'remove', path: 'params.email', match: ofApp },
    { action: 'hash', path: 'params.phone', match: ofApp },
    { action: 'remove', path: 'device.serial', match: ofApp },
    { action: 'hash', path: 'device.device_model', match: ofApp },
    { action: 'remove', path: 'extra.log.secret', match: ofApp },
    { action: 'remove', path: 'extra.secret', match: ofApp },
  )
  const params = { email: 'a@example.com', phone: '+49 170', screen: 'home' }
  const device = { os: 'iOS', serial: 'a@example.com', device_model: '+49 170', color: 'red' }
  const unknown = { secret: 'a@example.com', color: 'blue' }
  await sendKeyed(gateway, logBody({ params, ...unknown }, { device, ...unknown }))
  const logs = [{ event: 'screen_view', params }, { event: 'tap' }]
  const entries = logs.map((log) => ({ ...log, ...unknown }))
  await sendBatch(gateway, batch(entries, { device, ...unknown }))
  const rows = gateway.rows('logs')
  t.equal(rows.length, 3)
  t.notMatch(JSON.stringify(rows), /example\.com|49 170/)
  const hashes = rows.map((row) => (row['device'] as { device_model: string }).device_model)
  t.match(hashes[0], /^[\da-f]{32}$/)
  t.equal(new Set(hashes).size, 1)
  t.equal((rows[0]!['params'] as { phone: string }).phone, hashes[0], 'equal values join')
  for (const row of rows) {
    t.same(row['device_extra'], { color: 'red' })
    t.same(row['extra'], { color: 'blue', log: { color: 'blue' } })
  }
  t.same(rows[1]!['params'], rows[0]!['params'])
  t.same(counted(gateway), ['logs accepted : 3'])
})

t.test('201: nothing is left of extra when everything in it is removed', async (t) => {
  const gateway = await start(t, { action: 'remove', path: 'extra.secret', match: ofApp })
  await sendKeyed(gateway, logBody({}, { secret: 'a' }))
  await sendBatch(gateway, batch([{ event: 'a' }], { secret: 'a' }))
  t.equal(gateway.rows('logs').length, 2)
  for (const row of gateway.rows('logs')) t.notOk('extra' in row)
})

t.test('207: rules about one event of a batch leave the others as they were sent', async (t) => {
  const gateway = await start(
    t,
    { action: 'remove', path: 'device.serial', match: { event: 'a' } },
    { action: 'remove', path: 'device.os', match: { event: 'b' } },
    { action: 'remove', path: 'extra.shared', match: { event: 'a' } },
  )
  const device = { os: 'iOS', serial: '1', build_time: '' }
  const logs = [{ event: 'a' }, { event: 'b' }, { event: 'c' }]
  await sendBatch(gateway, batch(logs, { device, shared: 1 }))
  t.match(gateway.rows('logs'), [
    { event: 'a', device: { os: 'iOS' }, device_extra: {} },
    { event: 'b', device: {}, device_extra: { serial: '1' }, extra: { shared: 1 } },
    { event: 'c', device: { os: 'iOS' }, device_extra: { serial: '1' }, extra: { shared: 1 } },
  ])
  t.notOk('extra' in gateway.rows('logs')[0]!)
  t.notOk('os' in (gateway.rows('logs')[1]!['device'] as object))
})

t.test('422: the fingerprint is that of what was sent, not of what is stored', async (t) => {
  const gateway = await start(t, { action: 'remove', path: 'params.email', match: ofApp })
  const send = (email: string) => sendKeyed(gateway, logBody({ params: { email } }), 'key')
  t.equal((await send('a')).status, 201)
  t.equal((await send('a')).status, 201)
  t.match(await send('b'), refusal(422, 'idempotency_key_reused'))
  const id = '0b000000-0000-4000-8000-000000000001'
  const sendInBatch = (email: string) =>
    sendBatch(gateway, batch([{ event: 'a', id, params: { email } }]))
  t.match((await sendInBatch('a')).json(), { accepted: 1 })
  t.match((await sendInBatch('b')).json(), { results: [{ code: 'idempotency_key_reused' }] })
})

t.test('201: the device and unknown fields of a feedback are changed, not its text', async (t) => {
  const gateway = await start(
    t,
    { action: 'remove', path: 'device.serial', match: ofApp },
    { action: 'hash', path: 'extra.feedback.phone', match: ofApp },
    { action: 'sample', rate: 0.000_001, match: ofApp },
  )
  await sendForm(gateway, [payload({ phone: '49170' }, { device: { os: 'iOS', serial: '1' } })])
  const [row] = gateway.rows('feedback')
  t.match(row, { text: 'It broke.', device: { os: 'iOS' }, device_extra: {} })
  t.match(row!['extra'], { feedback: { phone: /^[\da-f]{32}$/ } })
  t.notOk('sample_rate' in row!)
})

t.test('201: a rule counts only what it changed, once per acknowledged record', async (t) => {
  const gateway = await start(
    t,
    { action: 'remove', path: 'params.email', match: ofApp },
    { action: 'drop', match: { event: 'noise' } },
    { action: 'sample', rate: 0.999_999, match: { event: 'often' } },
  )
  await sendKeyed(gateway, logBody({ params: { email: 'a' } }))
  await sendKeyed(gateway, logBody({ params: { email: null } }))
  await sendBatch(
    gateway,
    batch([
      { event: 'noise', params: { email: 'a' } },
      { event: 'often', params: { email: 'a', 'x.email': 1 } },
      { event: 1 },
    ]),
  )
  const metrics = await gateway.metrics()
  const matches = [...metrics.matchAll(/^intake_rule_matches_total\{(.*)\} (\d+)$/gm)]
  t.same(
    matches.map(([, labels, count]) => `${labels} ${count}`),
    [
      'rule="rule_000000000001",action="remove" 2',
      'rule="rule_000000000002",action="drop" 1',
      'rule="rule_000000000003",action="sample" 1',
    ],
  )
})
