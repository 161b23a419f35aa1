import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createApiKeyStore } from '@intake/access'
import { deviceShare } from '../../../packages/access/src/rules/device-share.ts'
import { feedbackRow, logRow, startServices, uuidV7 } from './services.ts'

const { clickhouse, dataDir, insert, intake, journal, keys } = await startServices(t)

const now = Date.now()
const at = (minutesAgo: number) => {
  const time = new Date(now - minutesAgo * 60_000).toISOString()
  return { id: uuidV7(time), time, received_at: time }
}
const uuid = (n: number) => `bd9c40f6-2f4f-4b8a-9d3b-${String(n).padStart(12, '0')}`
const ofApp = (n: number, version_code: number | null, fields: object = {}) => ({
  bundle_identifier: 'com.example.app',
  device_uuid: uuid(n),
  device: { os: 'Android', version_code, version_name: version_code && `1.${version_code}` },
  ...at(n),
  ...fields,
})

t.test('add, list and remove; the journal has when and who', async (t) => {
  const added = await intake(['rules', 'add', 'drop', '--event', "it's", '--by', 'ana', '--json'])
  t.equal(added.code, 0, added.stderr)
  const rule = JSON.parse(added.stdout) as { id: string; createdAt: string }
  t.match(rule, {
    id: /^rule_[\da-f]{12}$/,
    action: 'drop',
    match: { event: "it's" },
    createdBy: 'ana',
  })
  t.same(JSON.parse((await intake(['rules', 'list', '--json'])).stdout), [rule])
  const listed = (await intake(['rules', 'list'])).stdout
  t.equal(listed, `${rule.id}\tdrop --event 'it'\\''s'\tadded ${rule.createdAt}\tby ana\n`)
  const removed = await intake(['rules', 'remove', rule.id, '--json'])
  t.same(JSON.parse(removed.stdout), rule)
  t.match(await intake(['rules', 'remove', rule.id]), { code: 1, stderr: /There is no rule/ })
  t.match(await journal(), [
    { action: 'rule-added', subject: rule.id, who: 'ana', detail: rule },
    { action: 'rule-removed', subject: rule.id, who: /@/ },
  ])
})

t.test('a rule that cannot be right is refused with one sentence', async (t) => {
  for (const [args, reason] of [
    [['drop'], /needs a condition/],
    [['drop', '--kind', 'logs'], /needs a condition/],
    [['sample', '1e-9'], /needs a condition/],
    [['sample', '0.1', '--kind', 'logs'], /needs a condition/],
    [['sample'], /more than 0 and less than 1/],
    [['sample', '10%'], /more than 0 and less than 1/],
    [['remove'], /must begin with params/],
    [['remove', 'email'], /must begin with params/],
    [['hash', 'device.version_code'], /cannot hold a hash/],
    [['drop', '--version-code-below', '1.5'], /Give an integer/],
    [['drop', '--key', 'key_000000000000'], /There is no API key/],
    [['delete', '--event', 'a'], /Allowed choices/],
  ] as const) {
    const { code, stderr } = await intake(['rules', 'add', ...args])
    t.equal(code, 1, args.join(' '))
    t.match(stderr, reason, args.join(' '))
  }
  t.same(JSON.parse((await intake(['rules', 'list', '--json'])).stdout), [])
})

const dryRun = async (...args: string[]) => {
  const { stdout, stderr, code } = await intake(['rules', 'add', ...args, '--dry-run', '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, unknown>
}

t.test('a dry run counts the last day, by version, and adds nothing', async (t) => {
  const day = 24 * 60
  await insert('logs', [
    logRow(ofApp(1, 40, { event: 'noise', params: { user: { email: 'a' } } })),
    logRow(ofApp(1, 40, { event: 'noise', ...at(2) })),
    logRow(ofApp(1, 41, { event: 'noise', ...at(3), params: { email: 'a' } })),
    logRow(ofApp(2, null, { event: 'noise', params: { emails: 1 } })),
    logRow(ofApp(3, 42, { event: 'tap', extra: { log: { debug: 1 } }, api_key_id: 'key_x' })),
    // This event counts for ten, because of its sample rate. It happened 20 days ago, but arrived
    // within the last day.
    logRow(
      ofApp(4, 42, { event: 'often', sample_rate: 0.1, ...at(20 * day), received_at: at(5).time }),
    ),
    logRow(ofApp(5, 40, { event: 'noise', ...at(2 * day) })),
    logRow(ofApp(6, 40, { event: 'noise', bundle_identifier: 'com.example.other' })),
  ])
  await insert('feedback', [feedbackRow(ofApp(3, 42, { ...at(7) }))])
  const app = ['--bundle', 'com.example.app']
  t.same(await dryRun('drop', ...app, '--event', 'noise'), {
    records: 4,
    devices: 2,
    not_stored: 4,
    by_version: [
      { version_code: 40, version_name: '1.40', records: 2, devices: 1, not_stored: 2 },
      { version_code: 41, version_name: '1.41', records: 1, devices: 1, not_stored: 1 },
      { version_code: null, version_name: null, records: 1, devices: 1, not_stored: 1 },
    ],
  })
  t.match(await dryRun('drop', ...app, '--version-code-from', '42'), { records: 12, devices: 11 })
  t.match(await dryRun('drop', ...app, '--version-code-from', '42', '--kind', 'logs'), {
    records: 11,
  })
  t.match(await dryRun('drop', ...app, '--version-code-below', '41'), { records: 2 })
  t.match(await dryRun('drop', ...app, '--os', 'ANDROID', '--version-name', '1.41'), { records: 1 })
  t.match(await dryRun('drop', '--event-prefix', 'noi'), { records: 5 })
  t.match(await dryRun('remove', 'params.email', ...app), { records: 1, not_stored: 0 })
  t.match(await dryRun('remove', 'params.user', ...app), { records: 1 })
  t.match(await dryRun('hash', 'params.user.email', ...app), { records: 1 })
  t.match(await dryRun('remove', 'extra.log.debug', ...app), { records: 1 })
  t.match(await dryRun('remove', 'device.version_code', ...app, '--kind', 'logs'), { records: 14 })
  t.match(await dryRun('remove', 'device.supported_abis'), { records: 0, by_version: [] })
  t.same(JSON.parse((await intake(['rules', 'list', '--json'])).stdout), [])
  const { stdout } = await intake(['rules', 'add', 'drop', ...app, '--event', 'noise', '--dry-run'])
  t.match(stdout, 'would have matched 4 records of 2 devices; 4 would not be stored')
  t.match(stdout, /40 +1\.40 +2 +1 +2/)
})

t.test('ClickHouse and gateways choose the same devices for a sample', async (t) => {
  const devices = [1, 2, 3, 4, 5].map(uuid)
  const rows = await clickhouse.query<{ share: number }>(
    `SELECT murmurHash3_32(toString(one)) / 4294967296 AS share
     FROM (SELECT arrayJoin(['${devices.join("','")}']::Array(UUID)) AS one)`,
  )
  const shares = rows.map(({ share }) => share)
  t.same(shares, devices.map(deviceShare))
})

t.test('test shows what the rules in force make of a record', async (t) => {
  const { key } = await createApiKeyStore({ redis: keys }).create({ name: 'test' })
  for (const args of [
    ['drop', '--event', 'noise', '--key', key.id],
    ['remove', 'params.email', '--bundle', 'com.example.app'],
    ['hash', 'extra.feedback.phone'],
  ]) {
    t.equal((await intake(['rules', 'add', ...args])).code, 0)
  }
  const sender = {
    bundle_identifier: 'com.example.app',
    device: { version_code: 9_007_199_254_740_993n },
    device_uuid: uuid(1),
    unique_user_id: 'user-1',
  }
  const test = async (record: object, ...args: string[]) => {
    const file = join(dataDir, `${randomUUID()}.json`)
    const json = JSON.stringify({ ...sender, ...record }, (_, value: unknown) =>
      typeof value === 'bigint' ? `big${value}` : value,
    )
    writeFileSync(file, json.replace(/"big(\d+)"/, '$1'))
    const { stdout } = await intake(['rules', 'test', file, '--json', ...args])
    t.match(stdout, /9007199254740993|"records":\[\]/, 'with all digits')
    return JSON.parse(stdout) as { rules: string[]; records: object[] }
  }
  const log = { event: 'noise', params: { email: 'a', x: 1 } }
  t.match(await test({ log }), { status: 201, accepted: 1, records: [{ params: { x: 1 } }] })
  const dropped = await test({ log }, '--key', key.id)
  t.match(dropped, { status: 201, dropped: 1, rules: [String], records: [] })
  const batch = await test({ logs: [log, { event: 'tap' }, { event: 1 }] }, '--key', key.id)
  t.match(batch, { status: 207, accepted: 1, dropped: 1, invalid_request: 1 })
  const feedback = await test({ feedback: { text: 'It\r\n--broke', phone: '49' } })
  t.match(feedback, { status: 201, records: [{ extra: { feedback: { phone: /^[\da-f]{32}$/ } } }] })
  t.match(await intake(['rules', 'test', '/dev/null']), { code: 1, stderr: /is not JSON/ })
})
