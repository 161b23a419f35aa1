import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type ClickHouse } from '@intake/clickhouse'
import {
  databaseOf,
  defineAnalyst,
  defineAnalysts,
  definerOf,
  findDifferencesOfAnalysts,
  rightsSql,
  rightsXml,
  writeAnalyst,
} from '@intake/schema'
import { documentedQueries } from '@intake/test-kit/documented-queries'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { until } from '@intake/test-kit/until'
import { feedbackRow, logRow, member, uuidV7 } from '../../packages/schema/test/fixture.ts'
import { limited, password } from '../../packages/schema/test/limited-analyst.ts'
import { cluster, replicas } from './cluster.ts'
import { application, documentedParams, inOneOrder } from './same-answers.ts'

const mine = limited({
  bundles: ['com.example.mine'],
  without: ['email', 'text', 'extra', 'request_id'],
  pseudonyms: ['unique_user_id', 'device_uuid'],
})
const ofFleet = limited({ name: 'fleet', bundles: [application] })

/** The users of limited analysts, because the embedded engine makes none by SQL. */
export const limitedUsers = [mine, ofFleet].map((analyst) =>
  rightsXml(analyst, '127.0.0.1', cluster),
)

/** Texts and values that the analyst of `mine` must never see. */
const secrets = {
  foreign: 'Quagga',
  hidden: 'Hoopoe',
  user: 'Wombat',
  device: 'badc0ffe-0000-4000-8000-00000000beef',
  journal: 'Aardvark',
}

const time = '2026-11-21T03:00:00.000Z'
const own = {
  bundle_identifier: 'com.example.mine',
  unique_user_id: secrets.user,
  device_uuid: secrets.device,
  extra: { x: secrets.hidden },
}
const other = {
  bundle_identifier: `com.example.${secrets.foreign}`,
  unique_user_id: secrets.foreign,
}
const count = 60
const each = (make: (id: { id: string; time: string }) => object[]) =>
  Array.from({ length: count }, () => make({ id: uuidV7(time), time })).flat()
const logs = each((at) => [
  logRow({ ...at, ...own }),
  logRow({ ...at, ...other, id: uuidV7(time), event: secrets.foreign }),
])
const feedback = each((at) => [
  feedbackRow({ ...at, ...own, text: secrets.hidden, email: `${secrets.hidden}@example.com` }),
  feedbackRow({ ...at, ...other, id: uuidV7(time), text: secrets.foreign }),
])

const page = new URL('../../docs/queries.md', import.meta.url)

/** Checks on each server what analysts see of a cluster. `owner` is connected to one of them. */
export async function testAnalysts(
  t: Test,
  { owner, urls }: { owner: ClickHouse; urls: readonly string[] },
): Promise<void> {
  await owner.insertRows({ table: 'logs', members: [member(logs)], rows: logs.length })
  await owner.insertRows({ table: 'feedback', members: [member(feedback)], rows: feedback.length })
  await owner.command(
    `INSERT INTO intake.journal (id, at, who, action, subject) SELECT generateUUIDv4(), now64(3), '${secrets.journal}', '', ''`,
  )
  for (const analyst of [mine, ofFleet]) {
    await writeAnalyst(owner, analyst)
    await defineAnalyst(owner, analyst)
    t.match(rightsSql(analyst, cluster).join('\n'), /ON intake\.logs_raw_local FOR SELECT/)
  }
  t.same(await findDifferencesOfAnalysts(owner), [])
  const forbidden = await readForbidden(owner)
  const seen = await owner.query<object>('SELECT unique_user_id FROM intake.logs_raw')
  t.match(JSON.stringify(seen), forbidden, 'the owner sees what an analyst must not see')
  const database = databaseOf(mine)

  for (const [index, url] of urls.entries()) {
    for (const { title, sql } of documentedQueries(readFileSync(page, 'utf8'))) {
      const expected = await owner.query<object>(sql, documentedParams)
      const analyst = connectAs(t, url, 'analyst')
      t.same(
        inOneOrder(await analyst.query<object>(sql, documentedParams)),
        inOneOrder(expected),
        `analyst, server ${index}: ${title}`,
      )
      if (/intake\.(?:dead_letters|outcomes|deletions|alert)/.test(sql)) continue
      const ofOne = connectAs(t, url, databaseOf(ofFleet))
      const theirs = sql.replaceAll(/\bintake\./g, `${databaseOf(ofFleet)}.`)
      t.same(
        inOneOrder(await ofOne.query<object>(theirs, documentedParams)),
        inOneOrder(expected),
        `limited analyst, server ${index}: ${title}`,
      )
    }

    const views = await owner.query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = '${database}' ORDER BY name`,
    )
    t.ok(views.length > 10)
    for (const { name } of views) {
      const text = await ask(url, database, `SELECT * FROM ${database}.${name}`)
      t.notMatch(text, forbidden, `${name}, server ${index}`)
      t.notMatch(text, /^Code: /, name)
    }
    for (const view of ['logs', 'logs_flat', 'feedback', 'feedback_flat']) {
      const text = await ask(url, database, `SELECT count() FROM ${database}.${view}`)
      t.equal(text, `${count}\n`, `${view}, server ${index}`)
    }
  }
}

/**
 * Checks that no statement shows an analyst more, on each server. It comes last, because the
 * embedded engine often aborts when a query on several servers fails.
 */
export async function testAttacks(
  t: Test,
  { owner, urls }: { owner: ClickHouse; urls: readonly string[] },
): Promise<void> {
  const [database, forbidden] = [databaseOf(mine), await readForbidden(owner)]
  await replaceRecords(owner)
  // Like intake.deletions, which a limited analyst of a single server has, it reads without FINAL.
  await owner.command(`CREATE OR REPLACE VIEW ${database}.erased ON CLUSTER '${cluster}'
    DEFINER = \`${definerOf(mine)}\` SQL SECURITY DEFINER
    AS SELECT bundle_identifier FROM intake.logs_raw_local WHERE ver > 0 SETTINGS final = 0`)
  for (const [index, url] of urls.entries()) {
    for (const setting of ['use_skip_indexes_if_final_exact_mode', 'final', 'apply_deleted_mask']) {
      for (const local of [0, 1]) {
        const sql = `SELECT count() FROM (SELECT id FROM intake.logs WHERE unique_user_id = 'replaced' SETTINGS ${setting} = 0, prefer_localhost_replica = ${local})`
        t.equal(await ask(url, 'analyst', sql), '0\n', `server ${index}: ${sql}`)
      }
    }
    for (const local of [0, 1]) {
      const filter = "additional_table_filters = {'intake.logs_raw_local': 'throwIf(ver > 0)'}"
      const sql = `SELECT count() > 0 FROM (SELECT event FROM intake.logs SETTINGS ${filter}, prefer_localhost_replica = ${local})`
      t.equal(await ask(url, 'analyst', sql), '1\n', `server ${index}: ${sql}`)
    }
    for (const sql of attacksOfAnalyst) {
      const text = await ask(url, 'analyst', sql)
      t.match(text, /ACCESS_DENIED|^0\n/, `server ${index}: ${sql}`)
      t.notMatch(text, secrets.journal)
    }
    let answered = 0
    const statements = attacks(database)
    for (const sql of statements) {
      const text = await ask(url, database, sql)
      t.notMatch(text, forbidden, `server ${index}: ${sql}`)
      if (text !== '') answered++
    }
    t.ok(answered > statements.length / 2, `server ${index} answered ${answered} of them`)
  }
}

async function readForbidden(owner: ClickHouse): Promise<RegExp> {
  const [key] = await owner.query<{ secret: string }>('SELECT secret FROM intake.pseudonym_key')
  return new RegExp(Object.values({ ...secrets, key: key?.secret ?? 'no key' }).join('|'))
}

/** A client of the server at `url`, whose user is the owner's. */
function connectAs(t: Test, url: string, user: string): ClickHouse {
  return openClickHouse(t, {
    url: url.replace('intake:secret', `${user}:${passwordOf(user)}`),
    requestTimeoutMs: 60_000,
  })
}

const passwordOf = (user: string) => (user === 'analyst' ? 'analyst' : password)

/**
 * Resolves to all that a server responds. Repeats the request if an engine has aborted; resolves to
 * an empty text if that does not help.
 */
async function ask(url: string, user: string, sql: string): Promise<string> {
  const request = async () => {
    const response = await fetch(`${new URL(url).origin}/?wait_end_of_query=1`, {
      method: 'POST',
      body: sql,
      headers: { 'x-clickhouse-user': user, 'x-clickhouse-key': passwordOf(user) },
      signal: AbortSignal.timeout(60_000),
    })
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    return !/NETWORK_ERROR|ALL_CONNECTION_TRIES_FAILED|ABORTED/.test(text) && { text }
  }
  return until(`${user} gets a response`, request, { everyMs: 500, stallMs: 60_000 }).then(
    ({ text }) => text,
    () => '',
  )
}

/** Checks that setup defines analysts on a server that was added to the cluster. */
export async function testAddedServer(
  t: Test,
  { owner, url }: { owner: ClickHouse; url: string },
): Promise<void> {
  const database = databaseOf(ofFleet)
  const missing = new RegExp(`not as defined: the view ${database}\\.logs by `)
  t.ok((await findDifferencesOfAnalysts(owner)).some((difference) => missing.test(difference)))
  t.same(await defineAnalysts(owner), { defined: ['fleet', 'mobile'], waiting: [] })
  t.same(await findDifferencesOfAnalysts(owner), [])
  // It would show the rows of all applications.
  await owner.command(`CREATE OR REPLACE TABLE ${database}_ROWS.logs_raw ON CLUSTER '${cluster}'
    AS ${database}_ROWS.logs_raw_local ENGINE = Distributed('${cluster}', 'intake', 'logs_raw_local')`)
  t.match(
    (await findDifferencesOfAnalysts(owner)).join('\n'),
    /not as defined: the table intake_fleet_ROWS\.logs_raw with .*'intake', /,
  )
  t.same(await defineAnalysts(owner), { defined: ['fleet'], waiting: [] })
  const [stored] = await owner.query<{ n: number }>(
    `SELECT count() AS n FROM intake.logs WHERE bundle_identifier = '${application}'`,
  )
  t.equal(await ask(url, database, `SELECT count() FROM ${database}.logs`), `${stored?.n}\n`)
}

/**
 * Inserts records in two versions, of which the first wins. Each is in a part with others, of which
 * an index can leave out granules.
 */
async function replaceRecords(owner: ClickHouse): Promise<void> {
  const records = Array.from({ length: 8 }, () =>
    logRow({ id: uuidV7(time), time, bundle_identifier: 'com.example.replaced' }),
  )
  await owner.command(`SYSTEM STOP MERGES ON CLUSTER '${cluster}' intake.logs_raw_local`)
  for (const [second, unique_user_id] of ['shown', 'replaced'].entries()) {
    const received_at = `2026-11-21T03:00:0${second}.000Z`
    const others = Array.from({ length: 40_000 }, (_, n) =>
      logRow({ ...records[0], id: uuidV7(time), unique_user_id: `${second}-${n}` }),
    )
    const rows = [...records.map((row) => ({ ...row, unique_user_id, received_at })), ...others]
    await owner.insertRows({ table: 'logs', members: [member(rows)], rows: rows.length })
  }
}

const parallelReplicas = `enable_parallel_replicas = 1, max_parallel_replicas = 2, cluster_for_parallel_replicas = '${replicas}', parallel_replicas_for_non_replicated_merge_tree = 1, parallel_replicas_local_plan = 0`

/** Settings with which another server could be asked for more, or evaluate conditions on raw rows. */
const settings = [
  'prefer_localhost_replica = 0',
  "distributed_product_mode = 'allow'",
  parallelReplicas,
]
const conditions = ['toUInt8(unique_user_id) = 1', 'toUInt8(toJSONString(extra)) = 1']

/** Statements of a limited analyst. Each may fail or succeed, but shows nothing that it should not. */
const attacks = (database: string) => [
  `SELECT * FROM ${database}_ROWS.logs_raw`,
  `SELECT * FROM ${database}_ROWS.feedback_raw_local`,
  'SELECT * FROM intake.logs',
  'SELECT * FROM intake.logs_local',
  'SELECT * FROM intake.logs_raw_local',
  `SELECT * FROM ${database}.logs WHERE event IN (SELECT who FROM intake.journal)`,
  ...[
    parallelReplicas,
    'make_distributed_plan = 1, distributed_plan_prefer_replicas_over_workers = 1',
    'serialize_query_plan = 1',
  ].map(
    (setting) => `SELECT * FROM (SELECT * FROM ${database}.erased SETTINGS final = 0, ${setting})`,
  ),
  "SELECT * FROM merge('intake.*', '.*') WHERE toString(tuple(*)) != ''",
  `SELECT * FROM cluster('${cluster}', ${database}_ROWS.logs_raw_local)`,
  `SELECT * FROM cluster('${cluster}', view(SELECT * FROM intake.logs_raw))`,
  `SELECT * FROM remote('127.0.0.1', intake.logs_raw)`,
  `SELECT name, create_table_query FROM system.tables WHERE database != 'system'`,
  ...settings.flatMap((setting) => [
    `SELECT * FROM ${database}.logs SETTINGS ${setting}`,
    `SELECT * FROM (SELECT * FROM ${database}.feedback SETTINGS ${setting})`,
    `SELECT count() FROM ${database}.logs WHERE toUInt8(bundle_identifier) = 1 SETTINGS ${setting}`,
    `SELECT count() FROM ${database}.devices WHERE toUInt8(unique_user_id) = 1 SETTINGS ${setting}`,
    `EXPLAIN actions = 1, distributed = 1 SELECT * FROM ${database}.logs WHERE event > '' SETTINGS ${setting}`,
  ]),
  // In a subquery, no constraint of the profile is checked.
  ...['intake.logs_raw_local', 'intake.logs_raw', `${database}_ROWS.logs_raw_local`].flatMap(
    (table) =>
      conditions.flatMap((condition) => [
        `SELECT * FROM (SELECT * FROM ${database}.logs SETTINGS additional_table_filters = {'${table}': '${condition}'})`,
        `(SELECT count() FROM ${database}.logs SETTINGS additional_table_filters = {'${table}': '${condition}'}, prefer_localhost_replica = 0) UNION ALL SELECT 1`,
      ]),
  ),
  `SELECT * FROM (SELECT * FROM ${database}.logs SETTINGS parallel_replicas_custom_key = 'toUInt8(unique_user_id)', parallel_replicas_count = 2)`,
]

/** Statements of the user analyst, which are refused or find nothing. */
const attacksOfAnalyst = [
  'SELECT * FROM intake.journal',
  'SELECT count() FROM intake.logs WHERE event IN (SELECT who FROM intake.journal)',
  "SELECT count() FROM intake.logs WHERE event IN (SELECT who FROM intake.journal) SETTINGS distributed_product_mode = 'allow', prefer_localhost_replica = 0",
  'SELECT count() FROM intake.logs WHERE event GLOBAL IN (SELECT event FROM intake.logs_raw)',
  "SELECT count() FROM (SELECT id FROM intake.logs SETTINGS additional_table_filters = {'intake.logs_local': 'event IN (SELECT who FROM intake.journal)'})",
  `SELECT * FROM cluster('${cluster}', intake.journal)`,
  `SELECT * FROM clusterAllReplicas('${cluster}', system.query_log)`,
]
