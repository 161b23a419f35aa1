import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { ask, forEachItem, skip, startWithTables } from './clickhouse-of-test.ts'

const { dataDir, server, owner } = await startWithTables(t)

/** Part of the name of every file that a query of these tests names. */
const word = 'planted4f1d'
const tablesDir = join(dataDir, 'data')
const users = { analyst: server.analystUrl, reader: server.readerUrl, worker: server.workerUrl }

const send = (url: string, query: string) => ask(url, query, { http_max_tries: '1' })

/** The files below the data folder that have the word in their names. */
const planted = () =>
  // Not readdirSync, which throws when a merge removes a folder meanwhile.
  spawnSync('find', [dataDir, '-name', `*${word}*`], { encoding: 'utf8' }).stdout

let count = 0
/** Path of a file that does not exist yet, in the folder of the tables. */
const newPath = (kind: string) => `'${tablesDir}/${kind}-${word}-${(count += 1)}.txt'`
const namesOf = async (sql: string) =>
  (await owner.query<{ name: string }>(sql)).map(({ name }) => name)

for (const [user, url] of Object.entries(users)) {
  t.test(`the user ${user} creates no file with a table function`, { skip }, async (t) => {
    const functions = await namesOf('SELECT name FROM system.table_functions')
    t.ok(functions.includes('sqlite') && functions.length > 50, `${functions.length} functions`)
    for (const name of functions) {
      const path = () => newPath(name)
      const queries = [
        `SELECT * FROM \`${name}\`(${path()})`,
        `SELECT * FROM \`${name}\`(${path()}, 'TSV')`,
        `SELECT * FROM \`${name}\`(${path()}, 'TSV', 'x String')`,
        `SELECT * FROM \`${name}\`('default', ${path()}, 'TSV')`,
        `SELECT * FROM \`${name}\`(sqlite(${path()}, 'x'))`,
        `DESCRIBE \`${name}\`(${path()}, 'TSV')`,
        `EXPLAIN SELECT * FROM \`${name}\`(${path()}, 'TSV')`,
        `INSERT INTO FUNCTION \`${name}\`(${path()}, 'TSV') VALUES ('x')`,
        `INSERT INTO FUNCTION \`${name}\`(${path()}, 'TSV', 'x String') VALUES ('x')`,
      ]
      await Promise.all(queries.map((query) => send(url, query)))
    }
    t.equal(planted(), '')
  })

  t.test(`the user ${user} creates no file with an engine or a source`, { skip }, async (t) => {
    const tables = await namesOf('SELECT name FROM system.table_engines')
    const databases = await namesOf('SELECT name FROM system.database_engines')
    t.ok(tables.includes('SQLite') && databases.includes('SQLite'))
    for (const engine of tables) {
      const of = () => `${engine}(${newPath(engine)}, 'TSV')`
      await send(url, `CREATE TEMPORARY TABLE t (x String) ENGINE = ${of()}`)
      await send(url, `CREATE TABLE intake.t (x String) ENGINE = ${of()}`)
    }
    for (const engine of databases)
      await send(url, `CREATE DATABASE d ENGINE = ${engine}(${newPath(engine)})`)
    for (const query of [
      `CREATE TEMPORARY TABLE t (x String) ENGINE = MergeTree ORDER BY x
        SETTINGS disk = disk(type = local, path = ${newPath('disk')})`,
      `CREATE DICTIONARY intake.d (k UInt64) PRIMARY KEY k
        SOURCE(FILE(PATH ${newPath('dictionary')} FORMAT 'TSV')) LAYOUT(FLAT()) LIFETIME(1)`,
      `CREATE TABLE intake.t AS sqlite(${newPath('as')}, 'x')`,
      `BACKUP TABLE intake.logs TO File(${newPath('backup')})`,
      `BACKUP TABLE intake.logs TO Disk('default', ${newPath('backup')})`,
      `SELECT 1 INTO OUTFILE ${newPath('outfile')}`,
    ])
      await send(url, query)
    t.equal(planted(), '')
  })

  t.test(`the user ${user} creates no file with a setting`, { skip }, async (t) => {
    const settings = await namesOf(
      "SELECT name FROM system.settings WHERE type = 'String' OR value LIKE '%/%'",
    )
    t.ok(settings.includes('output_format_schema') && settings.length > 50)
    const formats = ['Protobuf', 'TSV', 'CSV', 'Template', 'Avro', 'Parquet']
    await forEachItem(settings, async (setting) => {
      const value = () => `SETTINGS ${setting} = ${newPath(setting)}`
      const reading = "SELECT * FROM format(CSV, 'x UInt8', 'a\n1')"
      await send(url, `${reading} ${value()}, input_format_allow_errors_num = 1`)
      for (const format of formats) await send(url, `SELECT 1 AS x FORMAT ${format} ${value()}`)
      const form = new FormData()
      form.append('t', new Blob(['1\nx\n']), 't.csv')
      await ask(url, form, {
        t_structure: 'a Int32',
        t_format: 'CSV',
        query: 'SELECT * FROM t',
        input_format_allow_errors_num: '5',
        [setting]: newPath(setting).slice(1, -1),
      })
    })
    t.equal(planted(), '')
  })
}
