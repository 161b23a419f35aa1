import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { ask, forEachItem, startWithTables } from './clickhouse-of-test.ts'

/**
 * A secret word in a file outside ClickHouse's folder. The file stands for the one in which an
 * installation keeps its passwords.
 */
const word = 'canary4f1d'
const dataDir = createDataDir(t)
const secretFile = join(dataDir, 'secrets.json')
writeFileSync(secretFile, `{"clickhousePassword":"${word}"}\n`)
process.env['SECRET_OF_THE_PARENT'] = word

const { server, owner } = await startWithTables(t, { dataDir: join(dataDir, 'clickhouse') })
const skip = server.unconfined ?? false

/** The connections that the server `other` has accepted. All are from ClickHouse. */
const contacts: string[] = []
const other = createServer((socket) => {
  contacts.push('a connection')
  socket.destroy()
}).listen(0, '127.0.0.1')
await once(other, 'listening')
t.teardown(() => other.close())
const otherPort = (other.address() as AddressInfo).port

/**
 * Sends a query as an analyst. Fails if the response contains the secret word or ClickHouse
 * contacts another server.
 */
async function send(t: Test, query: string): Promise<string> {
  const settings = { max_execution_time: '5', http_max_tries: '1' }
  const { text } = await ask(server.analystUrl, query, settings)
  // The word can come only from the secret: no query contains it.
  if (text.includes(word)) t.fail(`shows the secret: ${query}`)
  if (contacts.splice(0).length > 0) t.fail(`contacts another server: ${query}`)
  return text
}

async function names(sql: string): Promise<string[]> {
  return (await owner.query<{ name: string }>(sql)).map(({ name }) => name)
}

const quote = (value: string) => `'${value}'`
const secret = quote(secretFile)
const url = quote(`http://127.0.0.1:${otherPort}/x`)
const address = quote(`127.0.0.1:${otherPort}`)
/** The errors for a wrong number or type of arguments. They mean that the function has not run. */
const wrongArguments = /^Code: (35|42|43)\./

const skipNetwork = server.unconfinedNetwork ?? skip
t.test('not even the owner reaches another server', { skip: skipNetwork }, async (t) => {
  const settings = 'SETTINGS http_max_tries = 1'
  await t.rejects(owner.query(`SELECT * FROM url(${url}, 'LineAsString') ${settings}`))
  t.same(contacts, [])
})

t.test('not even the owner reaches a secret', { skip }, async (t) => {
  await t.rejects(owner.query(`SELECT file(${secret})`))
  const [own] = await owner.query<{ environment: string }>(
    "SELECT file('/proc/self/environ') AS environment",
  )
  t.match(own?.environment, 'PATH=')
  t.notMatch(own?.environment, word)
})

/**
 * Categories of functions that only compute a result from their arguments. The test calls each of
 * these functions with one argument, and all others also with two and three.
 */
const computing =
  /Type Conversion|Date|Array|String|Geo|Hash|JSON|Math|Arithmetic|Map|IP|Compar|Tuple|Dist|Bit|Random|Time|Vector|UUID|Encod|Null|Round|Condition|Logical|Financial/

t.test('no function shows a file to an analyst or contacts a server', { skip }, async (t) => {
  const functions = await owner.query<{ name: string; categories: string }>(
    "SELECT name, categories FROM system.functions WHERE NOT is_aggregate AND alias_to = ''",
  )
  const others = functions.filter(({ categories }) => !computing.test(categories))
  t.ok(functions.length > 1_000, `${functions.length} functions`)
  t.ok(
    others.some(({ name }) => name === 'file') && others.length > 100,
    `${others.length} with several argument lists`,
  )
  await forEachItem(functions, async (one) => {
    for (const more of others.includes(one) ? [[], ["'x'"], ["'x'", "'x'"]] : [[]]) {
      const call = (target: string) => `SELECT \`${one.name}\`(${[target, ...more].join(', ')})`
      const text = await send(t, call(secret))
      if (!wrongArguments.test(text)) await send(t, call(url))
    }
  })
})

t.test('no table function does either', { skip }, async (t) => {
  const tables = await names('SELECT name FROM system.table_functions')
  t.ok(tables.includes('url') && tables.length > 50, `${tables.length} table functions`)
  const forms = [secret, url, address].flatMap((target) => [
    `(${target})`,
    `(${target}, 'LineAsString')`,
    `(${target}, 'x', 'x', 'x', 'x')`,
  ])
  await forEachItem(tables, async (name) => {
    for (const form of forms) await send(t, `SELECT * FROM \`${name}\`${form}`)
    await send(t, `SELECT * FROM \`${name}\`('default', ${secret}, 'LineAsString')`)
    await send(t, `DESCRIBE TABLE \`${name}\`(${secret}, 'CSVWithNames')`)
  })
})

t.test('no format does either, with any setting that takes text', { skip }, async (t) => {
  const settings = await names("SELECT name FROM system.settings WHERE type = 'String'")
  const formats = await names('SELECT name FROM system.formats WHERE is_output')
  t.ok(settings.includes('format_template_row') && formats.includes('Template'))
  await forEachItem(settings, async (setting) => {
    const takesFile = /^format_(schema|template_(row|resultset))$/.test(setting)
    for (const format of takesFile ? formats : ['TSV', 'Template']) {
      await send(t, `SELECT 1 AS x FORMAT ${format} SETTINGS ${setting} = ${secret}`)
    }
    await send(t, `SELECT 1 SETTINGS ${setting} = ${url}`)
  })
})

t.test('no statement does either', { skip }, async (t) => {
  const temporary = 'CREATE TEMPORARY TABLE t (line String) ENGINE ='
  const written = quote(join(dataDir, 'written'))
  const statements = [
    `${temporary} File('LineAsString', ${secret})`,
    `${temporary} URL(${url}, 'LineAsString')`,
    `CREATE TABLE intake.t (line String) ENGINE = File('LineAsString', ${secret})`,
    `CREATE DICTIONARY intake.d (k UInt64, line String) PRIMARY KEY k
      SOURCE(FILE(PATH ${secret} FORMAT 'LineAsString')) LAYOUT(FLAT()) LIFETIME(1)`,
    `CREATE FUNCTION f AS () -> file(${secret})`,
    `CREATE VIEW intake.v AS SELECT file(${secret})`,
    `ATTACH TABLE intake.t FROM ${secret} (x String) ENGINE = MergeTree ORDER BY x`,
    `SELECT 1 INTO OUTFILE ${written}`,
    `INSERT INTO FUNCTION file(${written}, 'TSV', 'x String') VALUES ('x')`,
    `INSERT INTO intake.logs FROM INFILE ${secret} FORMAT LineAsString`,
    `BACKUP TABLE intake.logs TO File(${written})`,
    `BACKUP TABLE intake.logs TO S3(${url}, 'x', 'x')`,
    `RESTORE TABLE intake.logs FROM File(${secret})`,
    `SELECT * FROM \`${secretFile}\``,
    `EXPLAIN SELECT file(${secret})`,
    `WITH file(${secret}) AS content SELECT content`,
    `SELECT (SELECT file(${secret}))`,
  ]
  await forEachItem(statements, async (statement) => {
    t.match(await send(t, statement), /^(Code: |Poco::Exception)/, statement)
  })
  t.same(readdirSync(dataDir).toSorted(), ['clickhouse', 'secrets.json'])
})

t.test('analysts cannot read system tables with information about others', { skip }, async (t) => {
  for (const table of ['system.users', 'system.server_settings']) {
    t.match(await send(t, `SELECT * FROM ${table}`), 'ACCESS_DENIED', table)
  }
  t.match(await send(t, 'SHOW CREATE USER intake'), 'ACCESS_DENIED')
  // The engine itself always runs a query, as the user `default`.
  t.equal(await send(t, 'SELECT DISTINCT user FROM system.processes'), 'analyst\n')
  // Analysts may read `system.parts` and `information_schema`. Both must list only what the user
  // may read.
  t.equal(await send(t, 'SELECT * FROM system.parts'), '')
  const lists = await names(
    `SELECT database || '.' || name AS name FROM system.tables
     WHERE lower(database) = 'information_schema'`,
  )
  t.ok(lists.includes('INFORMATION_SCHEMA.TABLES'))
  for (const list of lists) {
    // Leaves out the definitions of views: they contain names of raw tables. This is no leak,
    // because users can read the definitions with SHOW CREATE anyway.
    const columns = list.toLowerCase().endsWith('.views') ? 'table_name' : '*'
    const shown = await send(t, `SELECT ${columns} FROM ${list}`)
    t.notMatch(shown, /_raw|^Code: |Poco::Exception/, list)
  }
})
