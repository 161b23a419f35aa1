import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { startClickHouse } from '../../src/index.ts'
import { ask as askAs, skip, startWithTables } from './clickhouse-of-test.ts'

const passwords = {
  password: 'ownersword4f1d',
  workerPassword: 'workersword4f1d',
  readerPassword: 'readersword4f1d',
  analystPassword: 'analystsword4f1d',
}

/** Sends a query as the user `analyst`. Resolves to undefined while no server runs, or when it ends. */
const ask = (port: number, sql: string) =>
  askAs(`http://analyst:${passwords.analystPassword}@127.0.0.1:${port}`, sql).catch(() => undefined)

t.test('no password is in what an analyst can read, from the first moment', { skip }, async (t) => {
  const dataDir = createDataDir(t)
  const [port = 0] = await freePorts(1)
  const files = [
    ...['config.xml', 'users.xml'].map((name) => join(dataDir, 'config', name)),
    ...['config.xml', 'config-preprocessed.xml', 'users.xml'].flatMap((name) => [
      join(dataDir, 'data/preprocessed_configs', name),
      join('/proc/self/cwd/config', name),
    ]),
    ...['cmdline', 'environ', 'maps', 'status'].map((name) => `/proc/self/${name}`),
    join(dataDir, 'data/status'),
    join(dataDir, 'clickhouse.log'),
  ]
  const hidden = Object.values(passwords).flatMap((password) => [
    password,
    ...['intake', 'worker', 'reader', 'analyst'].map((user) => btoa(`${user}:${password}`)),
  ])
  const shown = new Map<string, number>()
  const state = { isReady: false }

  async function readAll() {
    for (const file of files) {
      const { status, text = '' } = (await ask(port, `SELECT file('${file}')`)) ?? {}
      if (hidden.some((word) => text.includes(word))) t.fail(`shows a password: ${file}`)
      if (status === 200) shown.set(file, (shown.get(file) ?? 0) + 1)
    }
  }
  async function readUntilReady() {
    while (!state.isReady) await readAll()
  }

  for (const start of ['first', 'second']) {
    state.isReady = false
    const readers = [readUntilReady(), readUntilReady(), readUntilReady()]
    const server = await startClickHouse({ dataDir, port, ...passwords })
    state.isReady = true
    await Promise.all(readers)
    await readAll()
    t.ok(shown.get(join(dataDir, 'config/config.xml')), `${start} start: the files can be read`)
    t.ok(shown.get('/proc/self/environ'), `${start} start: and the environment`)
    // Kills the server, so that the second start is like a restart by the supervisor.
    server.kill()
    await server.exited
  }
})

t.test('queries of analysts that never end', async (t) => {
  const said: string[] = []
  const { server, owner, connect } = await startWithTables(t, {
    ...passwords,
    queryMsMax: 12_000,
    killMsMax: 5_000,
    say: (line) => said.push(line),
  })
  const reader = connect(server.readerUrl)

  await t.test('cannot read a pipe of the process, unless it is root', { skip }, async (t) => {
    const folder = `/proc/${server.pid}/fd`
    const pipes = () =>
      readdirSync(folder).filter((name) => Number(name) > 2 && targetOf(name).startsWith('pipe:'))
    const targetOf = (name: string) => {
      try {
        return readlinkSync(join(folder, name))
      } catch {
        return '' // closed meanwhile
      }
    }
    t.ok(pipes().length > 0)
    await until('no pipe has rights', async () =>
      pipes().every((name) => (statSync(join(folder, name)).mode & 0o777) === 0),
    )
    if (process.getuid?.() === 0) return
    for (const name of pipes()) {
      const { text = '' } = (await ask(server.port, `SELECT file('/proc/self/fd/${name}')`)) ?? {}
      t.match(text, 'Permission denied', name)
    }
  })

  await t.test('cannot read other files that never end', { skip }, async (t) => {
    for (const file of ['/dev/urandom', '/dev/random', '/dev/zero', '/dev/tty', '/dev/kmsg']) {
      const { text = '' } = (await ask(server.port, `SELECT file('${file}')`)) ?? {}
      t.match(text, /^Code: /, file)
    }
  })

  await t.test('do not keep workers from reading, and end with the server', { skip }, async (t) => {
    // ClickHouse applies the time limit and KILL QUERY only between two blocks of rows. This query
    // has a single block and takes many minutes, so neither can end it.
    const dear = `SELECT arrayLevenshteinDistance(range(n), range(n, 2 * n))
      FROM (SELECT materialize(60000) AS n FROM numbers(50))`
    const sql = process.getuid?.() === 0 ? `SELECT file('/proc/self/fd/4')` : dear
    const hanging = [dear, ...Array<string>(9).fill(sql)].map((it) => ask(server.port, it))
    await until('ten queries hang', async () => {
      const [row] = await owner.query<{ n: number }>(
        "SELECT count() AS n FROM system.processes WHERE user = 'analyst'",
      )
      return row?.n === 10
    })
    t.match(await ask(server.port, 'SELECT 1'), { text: /TOO_MANY_SIMULTANEOUS_QUERIES/ })
    for (const view of ['logs', 'feedback', 'dead_letters', 'outcomes', 'watermark'])
      t.same(await reader.query(`SELECT count() AS n FROM intake.${view}`), [{ n: 0 }], view)
    t.equal(said.length, 0)

    t.match(await server.exited, { signal: 'SIGKILL' })
    t.match(said[0], /ignored the time limit: cancelled/)
    t.match(said.at(-1), /cannot be cancelled/)
    t.same(await Promise.all(hanging), Array(10).fill(undefined))
  })
})

t.test('a query beyond its time is cancelled, and the server runs on', { skip }, async (t) => {
  const said: string[] = []
  const server = await startClickHouse({
    dataDir: createDataDir(t),
    port: 0,
    ...passwords,
    queryMsMax: 2_000,
    killMsMax: 120_000,
    say: (line) => said.push(line),
  })
  t.teardown(() => server.stop())
  const sql =
    'SELECT sleepEachRow(1) FROM numbers(100) SETTINGS max_block_size = 1, max_execution_time = 120'
  t.match(await ask(server.port, sql), { text: /QUERY_WAS_CANCELLED/ })
  // ClickHouse may end the query before it responds to the statement that cancels it.
  await until('it is said', () => said.length > 0)
  t.match(said, [/^ClickHouse: one query ignored the time limit: cancelled\.$/])
  t.match(await ask(server.port, 'SELECT 1'), { status: 200, text: '1\n' })
})
