// Applies deploy/clickhouse/*.xml and the migrations to the embedded ClickHouse engine, and checks
// the privileges of the users. Run `npm run build` first. Usage: node test/deploy/check-clickhouse.mjs
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClickHouse } from '@intake/clickhouse'
import { pickPort, startReadyChild } from '@intake/local'
import { migrate } from '@intake/schema'

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'intake-check-'))
const port = await pickPort()
await Promise.all(['config.d', 'users.d', 'data'].map((name) => mkdir(join(folder, name))))
await copyFile(pathOf('../../deploy/clickhouse/config.xml'), join(folder, 'config.d/intake.xml'))
await copyFile(pathOf('../../deploy/clickhouse/users.xml'), join(folder, 'users.d/intake.xml'))

// This config.xml takes the place of the image's configuration. The files in deploy/clickhouse
// change some settings of the image, so this config.xml must have these settings.
await writeFile(
  join(folder, 'config.xml'),
  `<clickhouse><users_config>${folder}/users.xml</users_config>
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
  <mysql_port>0</mysql_port><postgresql_port>0</postgresql_port>
  <query_log><database>system</database><table>query_log</table></query_log>
  <metric_log><database>system</database><table>metric_log</table></metric_log></clickhouse>`,
)
await writeFile(
  join(folder, 'users.xml'),
  `<clickhouse><profiles><default/></profiles><quotas><default/></quotas>
  <users><default><no_password/><profile>default</profile></default></users></clickhouse>`,
)
// Silences the server's log, which is not checked here.
await writeFile(
  join(folder, 'config.d/zz-quiet.xml'),
  '<clickhouse><logger><console replace="replace">0</console></logger></clickhouse>',
)
// The user `default` exists only here, because the embedded engine needs it to start.
await writeFile(
  join(folder, 'users.d/zz-embedded.xml'),
  `<clickhouse><users><default><no_password/><networks><ip>127.0.0.1</ip></networks>
  <profile>default</profile><quota>default</quota>
  <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants>
  </default></users></clickhouse>`,
)

const urlOf = (user) => `http://${user}:${user}-secret@127.0.0.1:${port}`
const intake = createClickHouse({ url: urlOf('intake') })
const worker = createClickHouse({ url: urlOf('worker') })
const reader = createClickHouse({ url: urlOf('reader') })
const analyst = createClickHouse({ url: urlOf('analyst') })

const engine = await startReadyChild({
  name: 'ClickHouse',
  command: process.execPath,
  // With 0 as the last argument, the server does not end when its disk is full.
  args: [
    pathOf('../../tools/local/hosts/clickhouse.mjs'),
    join(folder, 'data'),
    join(folder, 'config.xml'),
    String(port),
    '0',
  ],
  cwd: folder,
  env: {
    PATH: process.env.PATH,
    // The server's time zone is not UTC, so the check shows that the analysts' profile sets UTC.
    // (The embedded engine ignores <timezone>.)
    TZ: 'Asia/Kathmandu',
    CLICKHOUSE_MEMORY_BYTES: String(1024 ** 3),
    ...Object.fromEntries(
      ['intake', 'worker', 'reader', 'analyst'].map((user) => [
        `CLICKHOUSE_${user.toUpperCase()}_PASSWORD_SHA256`,
        hash('sha256', `${user}-secret`),
      ]),
    ),
  },
  logFile: join(folder, 'engine.log'),
  // On a busy machine, its start takes up to half a minute.
  readyMs: 120_000,
  probe: () =>
    intake.ping().then(
      () => true,
      () => false,
    ),
})
try {
  const { applied } = await migrate({ clickhouse: intake })
  console.log(`applied ${applied.join(', ')}`)

  await allowed(analyst, 'SELECT count() FROM intake.logs')
  await allowed(analyst, 'SELECT count() FROM intake.feedback')
  await allowed(analyst, 'SELECT params.screen, count() FROM intake.logs GROUP BY ALL ORDER BY 1')
  await allowed(analyst, 'SELECT 1 SETTINGS max_execution_time = 60')
  await allowed(analyst, "SELECT throwIf(timezone() != 'UTC')")
  await allowed(analyst, "SELECT now() SETTINGS session_timezone = 'Asia/Tokyo'")
  await allowed(analyst, 'SELECT count() FROM INFORMATION_SCHEMA.TABLES')
  await refused(analyst, 497, 'SELECT count() FROM intake.logs_raw')
  await refused(analyst, 497, 'TRUNCATE TABLE intake.logs_raw')
  await refused(analyst, 497, "SELECT * FROM file('x', 'LineAsString')")
  for (const source of [
    "url('http://127.0.0.1:9/x', 'LineAsString')",
    "s3('http://127.0.0.1:9/bucket/x', 'a', 'k', 'LineAsString', 'line String')",
    "azureBlobStorage('http://127.0.0.1:9/', 'c', 'p', 'a', 'k', 'LineAsString')",
    "hdfs('hdfs://127.0.0.1:9/x', 'LineAsString', 'line String')",
    "iceberg('http://127.0.0.1:9/bucket/x', 'a', 'k')",
    "deltaLake('http://127.0.0.1:9/bucket/x', 'a', 'k')",
    "hudi('http://127.0.0.1:9/bucket/x', 'a', 'k')",
    "remote('127.0.0.1:9', 'system', 'one')",
    "remoteSecure('127.0.0.1:9', 'system', 'one')",
    "mysql('127.0.0.1:9', 'd', 't', 'u', 'p')",
    "postgresql('127.0.0.1:9', 'd', 't', 'u', 'p')",
    "mongodb('127.0.0.1:9', 'd', 't', 'u', 'p', 'x String')",
    "redis('127.0.0.1:9', 'k', 'k String, v String')",
  ]) {
    for (const user of [analyst, reader, worker, intake])
      await refused(user, 497, `SELECT * FROM ${source}`)
  }
  await allowed(analyst, "SELECT throwIf(countIf(user != 'analyst') > 0) FROM system.processes")
  await refused(analyst, 497, 'SELECT * FROM system.server_settings')
  await refused(analyst, 452, 'SELECT 1 SETTINGS final = 0')
  await refused(analyst, 452, 'SELECT 1 SETTINGS max_execution_time = 0')
  await refused(analyst, 452, 'SELECT 1 SETTINGS use_skip_indexes_if_final_exact_mode = 0')
  await refused(
    analyst,
    452,
    "SELECT count() FROM intake.logs SETTINGS additional_table_filters = {'intake.logs_raw': '1'}",
  )
  await refused(
    analyst,
    452,
    "SELECT count() FROM intake.logs SETTINGS additional_result_filter = '1'",
  )
  await refused(analyst, 452, 'SELECT 1 SETTINGS max_memory_usage_for_user = 0')
  for (const view of ['logs', 'feedback', 'dead_letters', 'outcomes', 'watermark'])
    await allowed(reader, `SELECT count() FROM intake.${view}`)
  await allowed(reader, 'SELECT 1 SETTINGS max_execution_time = 10, max_memory_usage = 536870912')
  await refused(reader, 497, 'SELECT count() FROM intake.logs_raw')
  await refused(reader, 497, 'SELECT count() FROM intake.devices')
  await refused(reader, 497, 'SELECT * FROM system.parts')
  await refused(reader, 497, 'SELECT * FROM system.processes')
  await refused(reader, 452, 'SELECT 1 SETTINGS final = 0')
  await refused(reader, 452, 'SELECT 1 SETTINGS max_concurrent_queries_for_user = 0')
  for (const [user, places] of [
    [analyst, 10],
    [reader, 50],
  ]) {
    const [limit] = await user.query("SELECT getSetting('max_concurrent_queries_for_user') AS n")
    assert.equal(limit.n, places)
  }
  await worker.ping()
  await allowed(worker, "SELECT query_id FROM system.processes WHERE query_id = 'x'")
  await refused(worker, 497, 'SELECT count() FROM intake.logs')
  await refused(worker, 497, 'SELECT count() FROM intake.logs_raw')
  await refused(worker, 497, 'DROP TABLE intake.logs_raw')
  await refused(worker, 497, 'SELECT * FROM system.server_settings')
  await allowed(intake, "SELECT count() FROM system.parts WHERE database = 'intake'")
  // What docs/operations tells operators to do when the disk fills up, or a query takes all of it.
  for (const right of ['KILL QUERY ON *.*', 'TRUNCATE ON system.query_log'])
    assert.deepEqual(await intake.query(`CHECK GRANT ${right}`), [{ result: 1 }], right)
  await refused(intake, 497, 'CREATE DATABASE other')
  await refused(intake, 497, 'CREATE TABLE intake.f (a String) ENGINE = File(TSV)')
  const [setting] = await intake.query(
    "SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'",
  )
  assert.equal(setting.value, String(1024 ** 3))
  console.log('the configuration of ClickHouse is correct')
} finally {
  await Promise.all([intake, worker, reader, analyst].map((user) => user.close()))
  engine.kill()
  await engine.exited
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function allowed(clickhouse, sql) {
  await clickhouse.query(sql)
  console.log(`allowed: ${sql}`)
}

async function refused(clickhouse, code, sql) {
  await assert.rejects(
    clickhouse.command(sql),
    (error) => error.code === code,
    `not refused: ${sql}`,
  )
  console.log(`refused: ${sql}`)
}
