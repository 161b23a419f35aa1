import { randomUUID } from 'node:crypto'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { readInstallation, writeInstallation } from '../src/index.ts'
import { failureOf, feedbackRow, insertRows, logRow, startServer } from './fixture.ts'

const { server, connect } = await startServer(t)
const owner = connect(t)
const worker = openClickHouse(t, { url: server.workerUrl })

t.test('the worker inserts records and dead letters, and passes its /readyz check', async (t) => {
  await worker.ping()
  await insertRows(worker, 'logs', [logRow()])
  await insertRows(worker, 'feedback', [feedbackRow()])
  const refusal = new ClickHouseError('bad', { kind: 'rejected', code: 117 })
  await addDeadLetter(worker, { table: 'logs', row: '{}', refusal })
  for (const view of ['logs', 'feedback', 'dead_letters']) {
    t.same(await owner.query(`SELECT count() AS n FROM intake.${view}`), [{ n: 1 }], view)
  }
})

t.test('the worker reads which installation the tables belong to', async (t) => {
  t.equal(await readInstallation(worker), null)
  await writeInstallation(owner, 'one')
  t.equal(await readInstallation(worker), 'one')
})

t.test('the worker kills its own queries and no others', async (t) => {
  const endless = 'SELECT count() FROM numbers(1000000000000000) WHERE NOT ignore(number)'
  const ends = new AbortController()
  const start = async (url: string, name: string) => {
    const { origin, username, password } = new URL(url)
    const queryId = randomUUID()
    const response = fetch(`${origin}/?query_id=${queryId}`, {
      method: 'POST',
      body: endless,
      headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
      signal: ends.signal,
    })
    const isRunning = async () => {
      const sql = 'SELECT 1 FROM system.processes WHERE query_id = {queryId:String}'
      return (await owner.query(sql, { queryId })).length === 1
    }
    await until(`the query of ${name} runs`, isRunning)
    return { queryId, response, isRunning }
  }
  const own = await start(server.workerUrl, 'the worker')
  const other = await start(server.url, 'the owner')
  const kill = 'KILL QUERY WHERE query_id = {queryId:String} ASYNC'
  await worker.command(kill, { queryId: other.queryId }).catch(() => undefined)
  await worker.command(kill, { queryId: own.queryId })
  t.equal((await own.response).headers.get('x-clickhouse-exception-code'), '394')
  t.ok(await other.isRunning())
  await owner.command(kill, { queryId: other.queryId })
  await other.response
  ends.abort()
})

t.test('the worker can read and change nothing else', async (t) => {
  for (const sql of [
    'SELECT count() FROM intake.logs',
    'SELECT count() FROM intake.logs_raw',
    'SELECT count() FROM intake.dead_letters_raw',
    "INSERT INTO intake.installation (id) SELECT 'x'",
    "INSERT INTO intake.schema_migrations (name) SELECT 'x'",
    'DELETE FROM intake.logs_raw WHERE 1',
    'ALTER TABLE intake.logs_raw DROP PARTITION 202611',
    'ALTER TABLE intake.logs_raw UPDATE event = 1 WHERE 1',
    'OPTIMIZE TABLE intake.logs_raw FINAL',
    'TRUNCATE TABLE intake.feedback_raw',
    'DROP TABLE intake.logs_raw',
    'CREATE TABLE intake.other (a String) ENGINE = MergeTree ORDER BY ()',
    'CREATE FUNCTION f AS (a) -> a',
    'SYSTEM STOP MERGES intake.logs_raw',
    'GRANT SELECT ON intake.logs TO worker',
    "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString')",
    'SELECT * FROM system.users',
  ]) {
    t.equal((await failureOf(worker.command(sql))).code, 497, sql)
  }
})
