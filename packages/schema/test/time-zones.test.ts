import t from 'tap'
import { isoTime, sqlTime } from '@intake/clickhouse'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import {
  feedbackRow,
  insertRows,
  logRow,
  rowTime,
  startServer,
  timeZones,
  uuidV7,
  withSettings,
} from './fixture.ts'
import { recordViews } from './views.ts'

const { server, connect } = await startServer(t, { timeZone: 'Asia/Kathmandu' })
const owner = connect(t)

/** Settings of profiles that change how times are read or printed. */
const profiles = [
  ...timeZones.map((session_timezone) => ({ session_timezone })),
  { session_timezone: 'Asia/Kathmandu', date_time_output_format: 'iso' },
  { session_timezone: 'America/New_York', date_time_output_format: 'unix_timestamp' },
  { date_time_input_format: 'best_effort' },
]

t.test('every column with a time has the zone UTC', async (t) => {
  const columns = await owner.query<{ place: string; type: string }>(
    `SELECT concat(table, '.', name) AS place, type FROM system.columns
     WHERE database = 'intake' AND type LIKE '%DateTime%'`,
  )
  t.ok(columns.length > 30, `${columns.length} columns`)
  for (const { place, type } of columns) {
    const times = [...type.matchAll(/DateTime(?:64)?/g)].length
    const inUtc = [...type.matchAll(/DateTime\('UTC'\)|DateTime64\(3, 'UTC'\)/g)].length
    t.equal(inUtc, times, `${place} ${type}`)
  }
})

t.test('views and functions return the same to every profile', async (t) => {
  const next = '2026-11-21T03:20:00.500Z'
  const client_timestamp = '2026-11-21T22:30:00.000Z'
  const device_uuid = logRow().device_uuid
  const device = { first_install_time: rowTime, build_time: rowTime }
  const logs = [
    logRow({ device_uuid, device, client_timestamp, params: { at: rowTime } }),
    logRow({
      device_uuid,
      device,
      time: next,
      id: uuidV7(next),
      extra: { log: { sequence: 1 } },
      event: 'crash',
    }),
  ]
  await insertRows(owner, 'logs', logs)
  await insertRows(owner, 'feedback', [feedbackRow({ device_uuid, device })])
  await owner.command(`INSERT INTO intake.outcomes_raw VALUES
    ('2026-11-21 03:00:00', 'key-1', 'logs', 'accepted', generateUUIDv4(), 2, '')`)
  await owner.command(`INSERT INTO intake.watermark_raw VALUES ('logs', '2026-11-21 03:30:00.000')`)
  const asks = [
    ...[...recordViews, 'outcomes'].map((view) => `SELECT * FROM intake.${view} ORDER BY ALL`),
    'SELECT * FROM intake.watermark',
    "SELECT intake_text(params.at) AS at FROM intake.logs WHERE time >= '2026-11-21 03:00:00' AND time < '2026-11-21 03:10:00'",
    `SELECT toDate(time) AS day, toStartOfHour(time) AS hour, toMonday(time) AS week, toHour(time) AS h
     FROM intake.logs ORDER BY time`,
    "SELECT count() AS n FROM intake.feedback WHERE received_at BETWEEN '2026-11-21 03:00:00' AND '2026-11-21 03:00:01'",
  ]
  const expected = new Map<string, string[]>()
  for (const profile of [{}, ...profiles]) {
    const reader = openClickHouse(t, { url: withSettings(server.url, profile) })
    for (const sql of asks) {
      const lines = await reader.lines(sql)
      t.ok(lines.length > 0, sql)
      if (!expected.has(sql)) expected.set(sql, lines)
      t.same(lines, expected.get(sql), `${sql} ${JSON.stringify(profile)}`)
    }
  }
  t.match(expected.get('SELECT * FROM intake.watermark'), [/2026-11-21 03:30:00.000/])
})

t.test('a time survives the way to ClickHouse and back, with every profile', async (t) => {
  for (const profile of profiles) {
    const reader = openClickHouse(t, { url: withSettings(server.url, profile) })
    const rows = await reader.query<{ time: string; ms: number }>(
      "SELECT {time:DateTime64(3, 'UTC')} AS time, toUnixTimestamp64Milli(time) AS ms",
      { time: sqlTime(new Date(rowTime)) },
    )
    const [row] = rows
    t.equal(isoTime(row!.time), rowTime, JSON.stringify(profile))
    t.equal(row!.ms, Date.parse(rowTime))
  }
})
