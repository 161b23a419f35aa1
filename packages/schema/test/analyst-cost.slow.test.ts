import t from 'tap'
import { databaseOf, defineAnalyst } from '../src/index.ts'
import { limited, password, startWithAnalysts } from './limited-analyst.ts'

const whole = limited({ name: 'whole', without: ['email', 'params'] })
const masked = limited({ name: 'masked', pseudonyms: ['unique_user_id', 'device_uuid'] })
const { owner, ask } = await startWithAnalysts(t, [whole, masked])

// Three applications with 60,000 events each, over 20 days.
for (const bundle of ['com.a', 'com.example.app', 'com.z']) {
  await owner.command(
    `INSERT INTO intake.logs_raw (id, time, received_at, bundle_identifier, device_uuid, unique_user_id, event, ver)
     SELECT toUUID(concat(substring(at, 1, 8), '-', substring(at, 9, 4), '-7000-8000-', leftPad(toString(number), 12, '0'))) AS id,
       fromUnixTimestamp64Milli(ms, 'UTC') AS time, time, '${bundle}',
       toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number % 500), 12, '0'))),
       concat('user-', toString(number % 500)), concat('e', toString(number % 7)), 1
     FROM (SELECT number, toInt64(1762000000000 + number * 28800) AS ms, lower(leftPad(hex(ms), 12, '0')) AS at FROM numbers(60000))`,
  )
}
for (const analyst of [whole, masked]) await defineAnalyst(owner, analyst)

/** Queries over one application, with the name of the database to be filled in. */
const queries = [
  "SELECT count() FROM DB.logs WHERE bundle_identifier = 'com.example.app'",
  "SELECT toDate(time) AS day, uniq(device_uuid) FROM DB.logs WHERE bundle_identifier = 'com.example.app' GROUP BY day",
  "SELECT count() FROM DB.logs WHERE bundle_identifier = 'com.example.app' AND time >= '2025-11-05 00:00:00' AND time < '2025-11-06 00:00:00'",
  "SELECT event, count() FROM DB.logs_flat WHERE bundle_identifier = 'com.example.app' AND event = 'e1' GROUP BY event",
  "SELECT * FROM DB.logs WHERE bundle_identifier = 'com.example.app' AND id = '019a4a53-e300-7000-8000-000000000050'",
  "SELECT count() FROM DB.devices WHERE bundle_identifier = 'com.example.app'",
  "SELECT sum(events) FROM DB.sessions WHERE bundle_identifier = 'com.example.app'",
]

const read = async (user: string, secret: string, sql: string) => {
  const { status, text, headers } = await ask(user, secret, sql)
  const summary = JSON.parse(headers['x-clickhouse-summary'] ?? '{}') as Record<string, string>
  return { status, text, rows: Number(summary['read_rows']), bytes: Number(summary['read_bytes']) }
}

t.test('a query over one application reads at most 1.1 times what all analysts read', async (t) => {
  for (const query of queries) {
    const all = await read('analyst', 'analyst', query.replaceAll('DB', 'intake'))
    for (const analyst of [whole, masked]) {
      const mine = await read(
        databaseOf(analyst),
        password,
        query.replaceAll('DB', databaseOf(analyst)),
      )
      t.equal(mine.status, 200, mine.text.slice(0, 200))
      const figures = `${mine.rows} / ${all.rows} rows, ${mine.bytes} / ${all.bytes} bytes: ${query}`
      t.ok(mine.rows <= all.rows * 1.1 + 1, `${analyst.name}: ${figures}`)
    }
  }
})

t.test('without a condition, an analyst reads only the own applications', async (t) => {
  const count = 'SELECT count() FROM DB.logs'
  const mine = await read(databaseOf(whole), password, count.replace('DB', 'intake_whole'))
  const one = `${count.replace('DB', 'intake')} WHERE bundle_identifier = 'com.example.app'`
  const all = await read('analyst', 'analyst', one)
  t.match(mine, { text: '60000\n', rows: all.rows })
})
