// Asks as an analyst with @clickhouse/client. Prints one JSON object per line; tools.ts reads them.
// Arguments: the folder with node_modules, host, port, user, password, views.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder, host, port, username, password, views] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const { createClient } = require('@clickhouse/client')
const { version } = require('@clickhouse/client/package.json')
const client = createClient({
  url: `http://${host}:${port}`,
  username,
  password,
  request_timeout: 60_000,
  // The setting of docs/connect.md: JavaScript rounds integers beyond 2^53.
  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
})

const say = (facts) => console.log(JSON.stringify(facts))

async function attempt(check, work) {
  try {
    say({ check, ...(await work()) })
  } catch (error) {
    say({ check, error: String(error) })
  }
}

const rowsOf = async (query, query_params = {}) =>
  (await client.query({ query, query_params, format: 'JSONEachRow' })).json()

say({ versions: [version] })
for (const view of views.split(',')) {
  await attempt(view, async () => {
    return { rows: (await rowsOf(`SELECT * FROM intake.${view} LIMIT 1000`)).length }
  })
}
for (const column of ['params', 'device_extra', 'extra']) {
  await attempt(`logs.${column}`, async () => {
    const sql = `SELECT ${column} AS value, intake_json(${column}) AS want FROM intake.logs ORDER BY id`
    const rows = await rowsOf(sql)
    return { pairs: rows.map(({ value, want }) => [JSON.stringify(value), want]) }
  })
}
await attempt('a param', async () => {
  const sql = 'SELECT count() AS n FROM intake.logs WHERE event = {event:String}'
  return { value: Number((await rowsOf(sql, { event: "it's" }))[0].n) }
})
await attempt('a big integer', async () => {
  const [row] = await rowsOf("SELECT params FROM intake.logs WHERE event = 'big'")
  return { value: row.params.big }
})
await attempt('a time', async () => {
  const [{ time }] = await rowsOf("SELECT time FROM intake.logs WHERE event = 'noon'")
  const date = new Date(`${time}Z`)
  const sql =
    "SELECT count() AS n FROM intake.logs WHERE event = 'noon' AND time = {time:DateTime64(3, 'UTC')}"
  const [{ n }] = await rowsOf(sql, { time: date })
  const offset = -60 * new Date().getTimezoneOffset()
  return { value: date.toISOString(), found: Number(n), offset }
})
await attempt('cancel', async () => {
  const controller = new AbortController()
  const ended = client
    .query({
      query: 'SELECT sum(sleepEachRow(1)) FROM numbers(110)',
      query_id: 'npm',
      abort_signal: controller.signal,
      clickhouse_settings: { max_block_size: '1', max_execution_time: 120 },
    })
    .then(
      () => false,
      () => true,
    )
  const running = async () => {
    const [{ n }] = await rowsOf("SELECT count() AS n FROM system.processes WHERE query_id = 'npm'")
    return Number(n)
  }
  while ((await running()) === 0);
  controller.abort()
  const from = Date.now()
  while ((await running()) !== 0);
  // Without an end the query would run for two minutes.
  return { value: (await ended) && Date.now() - from < 60_000 }
})
await client.close()
