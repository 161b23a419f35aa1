// node tools/bench/page.mjs [--rows 20000000] [--applications 1]: measures what the page
// (docs/page.md) costs on a large table. Fills a ClickHouse of its own with generated events, and
// opens every view. Prints Markdown.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClickHouse } from '../../packages/clickhouse/dist/index.js'
import { startAdminServer } from '../../packages/http-edge/dist/index.js'
import { startClickHouse, startRedis, startS3 } from '../local/dist/index.js'
import { page as pagePlugin } from '../../console/dist/page/page.js'
import { countNames, refreshCounts } from '../../packages/records/dist/index.js'
import { createLogger } from '../../packages/runtime/dist/process.js'
import { setUp } from '../../packages/schema/dist/setup/set-up.js'
import { firstApplication as application } from './dist/page/fleet.js'
import { load, untilMerged } from './dist/page/load.js'

const usage =
  'node tools/bench/page.mjs [--rows 20000000] [--applications 1]; build first: npm run build'
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000000' },
    applications: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const rows = Number(values.rows)
const applications = Number(values.applications)
const runs = 3
/**
 * If the machine is busy, the page may refuse a view. If it refuses one view more often than this,
 * the measurement fails.
 */
const refusedMax = 5
const say = (text) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`)

/**
 * Functions that end everything that was started. The newest one comes first, and is called first.
 */
const owned = []
const own = (end) => void owned.unshift(end)

const dataDir = await mkdtemp(join(tmpdir(), 'intake-bench-page-'))
own(() => rm(dataDir, { recursive: true, force: true }))
try {
  const services = await startServices()
  await fill(services.owner)
  const counting = await count(services)
  const views = await measureViews(services)
  console.log([...views, '', ...counting].join('\n'))
} finally {
  for (const end of owned) await end()
}

async function startServices() {
  const [redis, server, s3] = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0, logQueries: true }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  for (const service of [redis, server, s3]) own(() => service.stop())
  await setUp({
    redisUrl: redis.url,
    clickhouseUrl: server.url,
    s3: { endpoint: s3.url, bucket: 'intake', region: 'us-east-1' },
    acceptEmptyRedis: false,
  })
  const connect = (url) => {
    const clickhouse = createClickHouse({ url, requestTimeoutMs: 900_000 })
    own(() => clickhouse.close())
    return clickhouse
  }
  return {
    owner: connect(server.url),
    reader: connect(server.readerUrl),
    store: connect(server.workerUrl),
  }
}

/**
 * Fills the tables with events of the last 90 days, of which some arrive late or twice, and with
 * the outcomes of two gateways.
 */
async function fill(owner) {
  const progress = (loaded) => say(`${loaded.toLocaleString('en-US')} events`)
  await load(owner, { fleet: { rows, days: 90, endMs: Date.now(), applications }, progress })
  await owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
    SELECT toStartOfMinute(now('UTC')) - 60 * (number % 43200), concat('key_', toString(intDiv(number, 43200) % 4)), 'logs',
      if(intDiv(number, 172800) % 2 = 0, 'accepted', 'bundle_not_allowed'), generateUUIDv4(), 1 + cityHash64(number) % 900
    FROM numbers(${43_200 * 4 * 2 * 2})`)
  await owner.command(
    `INSERT INTO intake.watermark_raw SELECT arrayJoin(['logs', 'feedback']), now64(3, 'UTC') - 20`,
  )
  await untilMerged(owner)
}

async function count({ reader, store }) {
  const lines = []
  for (const name of countNames) {
    const began = performance.now()
    const periods = await refreshCounts({ reader, store, name })
    const took = ((performance.now() - began) / 1_000).toFixed(1)
    lines.push(`- \`${name}\`: ${periods} periods counted in ${took} s`)
    say(lines.at(-1))
  }
  return lines
}

/**
 * Opens each view three times with an empty cache, and reads the cost of the view's queries from
 * ClickHouse's log.
 */
async function measureViews({ owner, reader }) {
  const [one] = await owner.query(
    `SELECT id, device_uuid AS device, unique_user_id AS user FROM intake.logs
     WHERE bundle_identifier = {application:String} AND time > now64(3, 'UTC') - INTERVAL 1 DAY ORDER BY time DESC LIMIT 1`,
    { application },
  )
  const [crash] = await owner.query(
    `SELECT id FROM intake.logs WHERE bundle_identifier = {application:String} AND event = 'crash' ORDER BY time DESC LIMIT 1`,
    { application },
  )
  const [feedback] = await owner.query('SELECT id FROM intake.feedback ORDER BY time DESC LIMIT 1')
  const paths = viewPaths({ one, crash, feedback })
  const lines = [
    '| View | queries | ClickHouse, ms | rows read | MB read | HTML, bytes | refused |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  ]
  for (const [name, path] of Object.entries(paths)) {
    const found = []
    let refused = 0
    while (found.length < runs) {
      const cost = await open({ owner, reader, path })
      if (cost !== undefined) found.push(cost)
      else if (++refused > refusedMax) throw new Error(`${path}: refused ${refused} times`)
    }
    const middle = (key) => found.map((it) => it[key]).toSorted((a, b) => a - b)[1]
    const shown = [
      middle('queries'),
      middle('ms'),
      middle('read').toLocaleString('en-US'),
      (middle('bytesRead') / 1e6).toFixed(1),
      middle('html').toLocaleString('en-US'),
      refused,
    ]
    lines.push(`| \`${name.replaceAll('|', '')}\` | ${shown.join(' | ')} |`)
    say(lines.at(-1))
  }
  return lines
}

/** Returns the path of each view. `one` is an existing event, `feedback` an existing feedback. */
function viewPaths({ one, crash, feedback }) {
  return {
    '/': '/',
    '/?period=30d': '/?period=30d',
    '/live': '/live',
    '/live, one application': `/live?app=${application}`,
    '/live, one device': `/live?device=${one.device}`,
    '/live/rows (a poll)': `/live/rows?since=${Date.now() - 20_000}`,
    '/events': '/events',
    '/events, 7 days': '/events?period=7d',
    '/events, one application and event, 30 days': `/events?app=${application}&event=crash&period=30d`,
    '/events, one user': `/events?user=${one.user}`,
    '/events, a param, 1 day': `/events?app=${application}&params.screen=cart`,
    '/events/<id>': `/events/${one.id}`,
    // A small table may have none.
    ...(crash && { '/events/<id>, a crash': `/events/${crash.id}` }),
    '/feedback': '/feedback',
    '/feedback, a rare text': '/feedback?text=nobody+wrote+this',
    '/feedback/<id>': `/feedback/${feedback.id}`,
    '/applications/<id>': `/applications/${application}`,
    '/applications/<id>, catalogue': `/applications/${application}?tab=catalogue`,
    '/dead-letters': '/dead-letters',
    '/status': '/status',
    '/search, an id': `/search?q=${randomUUID()}`,
    '/search, a name': '/search?q=purchse',
  }
}

/**
 * Opens a view, and resolves to its cost. Resolves to undefined if the view was refused because its
 * queries took longer than the page waits.
 */
async function open({ owner, reader, path }) {
  const admin = await startPage(reader)
  try {
    const [{ since }] = await owner.query('SELECT toString(now64(6)) AS since')
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    const html = (await response.arrayBuffer()).byteLength
    if (response.status === 503) return undefined
    if (response.status >= 500) throw new Error(`${path}: ${response.status}`)
    await owner.command('SYSTEM FLUSH LOGS query_log')
    const [cost] = await owner.query(
      `SELECT count() AS queries, sum(query_duration_ms) AS ms, sum(read_rows) AS read, sum(read_bytes) AS bytesRead
       FROM system.query_log WHERE type = 'QueryFinish' AND user = 'reader' AND event_time_microseconds >= {since:String}`,
      { since },
    )
    const { queries, ms, read, bytesRead } = cost
    return {
      queries: Number(queries),
      ms: Number(ms),
      read: Number(read),
      bytesRead: Number(bytesRead),
      html,
    }
  } finally {
    await admin.close()
  }
}

function startPage(reader) {
  return startAdminServer({
    host: '127.0.0.1',
    port: 0,
    routes: async () => undefined,
    page: (app) =>
      pagePlugin(app, {
        password: undefined,
        reader,
        store: undefined,
        onFailed: say,
        log: createLogger({ name: 'page', level: 'error', destination: process.stderr }),
        state: {
          backlog: () => undefined,
          problems: () => [],
          visibleUntilMs: () => Date.now() - 20_000,
          deadLetters: () => 0,
          noThumbnails: () => undefined,
          keyNames: async () => new Map(),
          keyBudgets: async () => [],
          processes: async () => undefined,
        },
      }),
  })
}
