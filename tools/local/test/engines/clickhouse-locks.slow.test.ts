import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
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

t.test('analysts cannot read other files that never end', { skip }, async (t) => {
  const { server } = await startWithTables(t, passwords)
  for (const file of ['/dev/urandom', '/dev/random', '/dev/zero', '/dev/tty', '/dev/kmsg']) {
    const { text = '' } = (await ask(server.port, `SELECT file('${file}')`)) ?? {}
    t.match(text, /^Code: /, file)
  }
})
