import { randomUUID } from 'node:crypto'
import t from 'tap'
import { insertRows, logRow, startServer } from './fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)

const insert = (table: 'outcomes' | 'watermark', ...rows: object[]) =>
  insertRows(clickhouse, table, rows)

t.test('the highest report of each run counts, and runs are added up', async (t) => {
  const run = randomUUID()
  const report = (records: number, others: object = {}) => ({
    minute: '2026-11-23T12:00:00.000Z',
    api_key_id: 'a',
    kind: 'logs',
    code: 'accepted',
    run,
    records,
    ...others,
  })
  await insert('outcomes', report(3))
  await insert('outcomes', report(7), report(2, { run: randomUUID() }))
  // A report may be delivered again, even after a later report with the same `run`.
  await insert('outcomes', report(3))
  await insert('outcomes', report(1, { code: 'busy' }), report(4, { api_key_id: '' }))
  for (const rule of ['rule_1', 'rule_2']) {
    await insert('outcomes', report(2, { code: 'dropped', rule }))
    await insert('outcomes', report(1, { code: 'dropped', rule }))
  }
  await insert('outcomes', report(5, { minute: '2026-12-01T00:00:00.000Z' }))
  t.same(await clickhouse.query('SELECT * FROM intake.outcomes ORDER BY ALL'), [
    row({ api_key_id: '', records: 4 }),
    row({ records: 9 }),
    row({ code: 'busy', records: 1 }),
    row({ code: 'dropped', rule: 'rule_1', records: 2 }),
    row({ code: 'dropped', rule: 'rule_2', records: 2 }),
    row({ minute: '2026-12-01 00:00:00.000', records: 5 }),
  ])
})

const row = (values: object) => ({
  minute: '2026-11-23 12:00:00.000',
  api_key_id: 'a',
  kind: 'logs',
  code: 'accepted',
  rule: '',
  ...values,
})

t.test('the watermark never goes back', async (t) => {
  const at = (kind: string, time: string) => ({ kind, visible_until: `2026-11-23T${time}Z` })
  await insert('watermark', at('logs', '12:00:00.500'), at('feedback', '11:00:00.000'))
  await insert('watermark', at('logs', '11:59:59.000'))
  await insert('watermark', at('feedback', '11:00:05.000'))
  t.same(await clickhouse.query('SELECT * FROM intake.watermark ORDER BY kind'), [
    { kind: 'feedback', visible_until: '2026-11-23 11:00:05.000' },
    { kind: 'logs', visible_until: '2026-11-23 12:00:00.500' },
  ])
})

t.test('a watermark of a time when the clocks were ahead is not shown', async (t) => {
  for (const aheadMs of [3_600_000, -15_000]) {
    const visible_until = new Date(Date.now() + aheadMs).toISOString()
    await insert('watermark', { kind: 'feedback', visible_until })
  }
  const sql = `SELECT kind FROM intake.watermark`
  t.same(await clickhouse.query(sql), [{ kind: 'logs' }])
  t.same(await clickhouse.query(`${sql} SETTINGS final = 1`), [{ kind: 'logs' }])
})

t.test('what may have been left out by a rule is not missing', async (t) => {
  const devices = Array.from({ length: 4 }, () => randomUUID())
  const [ruled, otherApplication, otherKey, ruledForAll] = devices as [
    string,
    string,
    string,
    string,
  ]
  const numbered = (bundle_identifier: string, device_uuid: string, api_key_id: string) =>
    [
      [3, '2026-11-21T03:00:01.000Z'],
      [1, '2026-11-22T03:00:01.000Z'],
      [6, '2026-11-24T03:00:01.000Z'],
    ].map(([sequence, received_at]) =>
      logRow({
        bundle_identifier,
        device_uuid,
        api_key_id,
        received_at,
        extra: { log: { sequence } },
      }),
    )
  const rows = [
    ...numbered('com.a', ruled, 'key_1'),
    ...numbered('com.b', otherApplication, 'key_1'),
    ...numbered('com.a', otherKey, 'key_2'),
    ...numbered('com.b', ruledForAll, 'key_3'),
  ]
  await insertRows(clickhouse, 'logs', rows)
  const leftOut = (api_key_id: string, code: string, rule: string, minute: string) =>
    insert('outcomes', {
      minute,
      api_key_id,
      kind: 'logs',
      code,
      run: randomUUID(),
      records: 1,
      rule,
    })
  await leftOut('key_1', 'dropped', 'rule_a', '2026-11-23T12:01:00.000Z')
  await leftOut('key_1', 'dropped', 'rule_a', '2026-11-23T12:00:00.000Z')
  await leftOut('key_3', 'sampled', 'rule_all', '2026-11-23T13:00:00.000Z')
  await clickhouse.command(
    `INSERT INTO intake.journal (id, at, who, action, subject, detail) VALUES
       (generateUUIDv4(), now64(3), '', 'rule-added', 'rule_a', '{"match":{"bundle":"com.a"}}'),
       (generateUUIDv4(), now64(3), '', 'rule-added', 'rule_all', '{"match":{}}')`,
  )
  const found = await clickhouse.query<{ device_uuid: string }>(
    `SELECT device_uuid, missing, missing_under_rules, rules_since FROM intake.gaps
     WHERE device_uuid IN (${devices.map((device) => `'${device}'`).join()})`,
  )
  const rulesSince = [
    [ruled, '2026-11-23 12:00:00.000'],
    [otherApplication, null],
    [otherKey, null],
    [ruledForAll, '2026-11-23 13:00:00.000'],
  ] as const
  for (const [device_uuid, rules_since] of rulesSince) {
    const gap = found.find((one) => one.device_uuid === device_uuid)
    const [missing, missing_under_rules] = rules_since === null ? [3, 0] : [1, 2]
    t.same(gap, { device_uuid, missing, missing_under_rules, rules_since })
  }
})

t.test(
  'a number that no counter reaches is ignored, so a device has at most 32 bits',
  async (t) => {
    const device_uuid = randomUUID()
    const sequences = [1, 3, 4_294_967_295, 4_294_967_296, 9_007_199_254_740_991]
    await insertRows(
      clickhouse,
      'logs',
      sequences.map((sequence) => logRow({ device_uuid, extra: { log: { sequence } } })),
    )
    const found = await clickhouse.query(
      `SELECT first_sequence, last_sequence, missing, missing_under_rules FROM intake.gaps
     WHERE device_uuid = {device:UUID}`,
      { device: device_uuid },
    )
    const [first_sequence, last_sequence] = [1, 4_294_967_295]
    t.same(found, [
      { first_sequence, last_sequence, missing: 4_294_967_292, missing_under_rules: 0 },
    ])
  },
)
