import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { dayCountName, sharedCountKey } from '@intake/access'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { withRedis } from '@intake/redis'
import { endpointsFile } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { ownClickHouse, ownRedis, ownS3 } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { logRow } from '../../../packages/schema/test/fixture.ts'
import { commands, define } from '../src/commands.ts'
import { createIntake, endpointsOfStack } from './in-process.ts'
import { main, startIntake } from './services.ts'

const dataDir = createDataDir(t)
const [redis, server, s3] = await Promise.all([ownRedis(t), ownClickHouse(t), ownS3(t)])
const clickhouse = openClickHouse(t, { url: server.url })

const env = { REDIS_URL: redis.url, CLICKHOUSE_URL: server.url, S3_ENDPOINT: s3.url }
const intake = createIntake({ cwd: dataDir, env })

async function writeDeadLetter(record: { id: string }): Promise<string> {
  const refusal = new ClickHouseError('rejected', { kind: 'rejected', code: 27, serverText: 'why' })
  await addDeadLetter(clickhouse, { table: 'logs', row: JSON.stringify(record), refusal })
  return record.id
}

const count = async (id: string) => {
  const sql = 'SELECT count() AS rows FROM intake.logs WHERE id = {id:UUID}'
  const [first] = await clickhouse.query<{ rows: number }>(sql, { id })
  return first?.rows
}

t.test('setup creates tables, bucket and installation mark once', async (t) => {
  const first = await intake(['setup'])
  t.equal(first.code, 0)
  t.match(first.stdout, /^applied 0001-.*Intake is set up\.\n$/s)
  t.match(await intake(['setup']), { code: 0, stdout: 'Intake is set up.\n' })
  await clickhouse.command('DROP VIEW intake.sessions')
  t.match(await intake(['setup']), { stdout: 'applied view sessions\nIntake is set up.\n' })
  await clickhouse.query('SELECT * FROM intake.sessions')
})

t.test('dead letters are listed, shown, replayed and dropped', async (t) => {
  const replayed = await writeDeadLetter(logRow({ event: 'repaired' }))
  const dropped = await writeDeadLetter(logRow({ event: 'unwanted' }))
  const list = await intake(['dead-letters', 'list'])
  t.match(list, { code: 0, stderr: '2 dead letters\n' })
  t.match(list.stdout, `${replayed}\tlogs\t`)
  t.match(list.stdout, 'code 27')
  const json = JSON.parse((await intake(['dead-letters', 'list', '--json'])).stdout) as object[]
  t.equal(json.length, 2)
  t.match(json[0], { id: replayed, table: 'logs', error_code: 27 })

  const shown = await intake(['dead-letters', 'show', replayed])
  const letter = JSON.parse(shown.stdout) as { error: string; row: string }
  t.equal(letter.error, 'why')
  t.match(JSON.parse(letter.row), { id: replayed, event: 'repaired' })

  t.match(await intake(['dead-letters', 'replay', replayed]), { code: 0 })
  t.equal(await count(replayed), 1)
  t.match(await intake(['dead-letters', 'drop', dropped]), { code: 0 })
  t.equal(await count(dropped), 0)
  t.equal((await intake(['dead-letters', 'list'])).stderr, '0 dead letters\n')
})

t.test('--all continues after a row that is rejected again, which remains', async (t) => {
  const good = await writeDeadLetter(logRow({ event: 'good' }))
  const bad = await writeDeadLetter(logRow({ event: { not: 'a text' } }))
  const outcome = await intake(['dead-letters', 'replay', '--all'])
  t.equal(outcome.code, 1)
  t.match(outcome.stdout, `${good}\tdone`)
  t.match(outcome.stderr, '1 failed')
  t.match((await intake(['dead-letters', 'list'])).stdout, bad)
  t.match(await intake(['dead-letters', 'drop', '--all']), { code: 0 })
})

t.test('an empty list prints nothing, says so on standard error, and is [] in JSON', async (t) => {
  const lists = {
    'rules list': 'rules',
    'alerts list': 'alerts',
    'analysts list': 'analysts',
    'erasures list': 'erasures',
    'keys list': 'keys',
    'journal --since 2099-01-01': 'changes',
  }
  for (const [command, what] of Object.entries(lists)) {
    const stderr = `There are no ${what}.\n`
    t.match(await intake(command.split(' ')), { code: 0, stdout: '', stderr }, command)
    const json = await intake([...command.split(' '), '--json'])
    t.match(json, { code: 0, stdout: '[]\n' }, command)
  }
  for (const change of ['replay', 'drop']) {
    const stderr = 'There are no dead letters.\n'
    t.match(await intake(['dead-letters', change, '--all']), { code: 0, stdout: '', stderr })
  }
})

t.test('a command that may take long ends soon if ClickHouse does not respond', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const hanging = { CLICKHOUSE_URL: `http://owner@127.0.0.1:${port}` }
  for (const args of [
    ['catalogue', 'refresh'],
    ['retention', 'apply'],
  ]) {
    const outcome = await intake(args, hanging)
    t.match(outcome, { code: 1, stderr: /^No response from ClickHouse within 10000 ms/ })
  }
})

t.test('wrong usage is reported in one sentence, with exit code 1', async (t) => {
  const cases: [string[], RegExp][] = [
    [['dead-letters', 'show', 'nothing'], /^There is no dead letter nothing\.\n$/],
    [['dead-letters', 'replay'], /^Name an id, or --all\.\n$/],
    [['dead-letters', 'drop', 'an-id', '--all'], /^Name an id, or --all\.\n$/],
    [
      ['keys', 'revoke', 'key_none'],
      /^There is no key key_none that can be read, or it is revoked\.\n$/,
    ],
    [['keys', 'create', '--name', 'x', '--expires', '2020-01-01'], /must be in the future/],
    [['keys', 'create', '--name', 'x', '--expires', ''], /must be a time that exists/],
    [['keys', 'create', '--name', 'x', '--expires', '2199-02-30'], /must be a time that exists/],
    [['setup', '--new-shards-from', '2199-02-30T00:00Z'], /must be a time that exists/],
    [['keys', 'create', '--name', ' '], /^--name must not be empty\.\n$/],
  ]
  for (const [args, stderr] of cases) t.match(await intake(args), { code: 1, stdout: '', stderr })
})

t.test('a cluster that is no plain name, and a list of hosts, are refused', async (t) => {
  const cluster = { CLICKHOUSE_CLUSTER: "c' SYNC; --" }
  const hosts = { CLICKHOUSE_URL: 'http://u:p@one:8123,two:8123' }
  for (const [name, wrong] of Object.entries({ CLUSTER: cluster, URL: hosts })) {
    const outcome = await intake(['dead-letters', 'list'], wrong)
    t.match(outcome, { code: 1, stderr: new RegExp(`^configuration: CLICKHOUSE_${name} must`) })
  }
})

t.test('keys are created, listed without their secret, and revoked', async (t) => {
  const created = await intake(['keys', 'create', '--name', 'iOS', '--bundle', 'com.a', 'com.b'])
  t.equal(created.code, 0)
  const secret = created.stdout.trim()
  t.match(secret, /^ik_/)
  const list = await intake(['keys', 'list'])
  t.match(list.stdout, /^key_\S+\tiOS\tcom\.a,com\.b\tcreated \S+\texpires never\n$/)
  t.equal(list.stderr, 'id\tname\tbundles\tcreated\tstate\torigins and limits\n')
  t.notMatch(list.stdout, secret)
  const json = await intake(['keys', 'list', '--json'])
  t.match(JSON.parse(json.stdout), [{ name: 'iOS', bundleIdentifiers: ['com.a', 'com.b'] }])
  t.notMatch(json.stdout, secret)
  const [id] = list.stdout.split('\t')
  t.match(await intake(['keys', 'revoke', id!]), { code: 0 })
  t.match((await intake(['keys', 'list'])).stdout, /\trevoked /)

  const given = { FIRST_KEY: 'a-secret-of-some-length' }
  const from = ['keys', 'create', '--name', 'CI', '--from-env', 'FIRST_KEY']
  t.match(await intake(from, given), { code: 0 })
  t.match(await intake(from, given), { code: 1, stderr: /already exists/ })
})

t.test('keys are limited, suspended and resumed, each with --json', async (t) => {
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await intake(['keys', ...args, '--json'])
    t.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const created = await json(
    'create',
    '--name=web',
    '--bundle=com.example.*',
    '--origin=https://app.example',
    '--requests-per-minute=1',
    '--events-per-minute=2',
    '--events-per-day=3',
    '--bytes-per-day=4',
    '--attachment-bytes-per-minute=5',
    '--log-bytes-per-minute=6',
    '--feedback-per-minute=8',
    '--device-events-per-minute=7',
    '--expires=2099-01-01',
  )
  const limits = {
    requestsPerMinute: 1,
    eventsPerMinute: 2,
    eventsPerDay: 3,
    bytesPerDay: 4,
    attachmentBytesPerMinute: 5,
    logBytesPerMinute: 6,
    feedbackPerMinute: 8,
    deviceEventsPerMinute: 7,
  }
  const { id, key, ...rest } = created
  t.match(id, /^key_[\da-f]{12}$/)
  t.match(key, /^ik_/)
  t.match(rest, {
    bundleIdentifiers: ['com.example.*'],
    origins: ['https://app.example'],
    limits,
    expiresAt: '2099-01-01T00:00:00.000Z',
    state: 'active',
  })
  const none = { events: 0, bytes: 0 }
  t.same(await json('show', id), { id, ...rest, usedToday: none }, 'nothing is used')
  // Also sets the count of the next day, because midnight may pass during the test.
  for (const atMs of [Date.now(), Date.now() + dayMs]) {
    await withRedis({ url: redis.url, timeoutMs: 10_000 }, (connection) =>
      connection.set(sharedCountKey(dayCountName(id, atMs, 'eventsPerDay')), 2),
    )
  }
  t.match(await json('show', id), { usedToday: { events: 2, bytes: 0 } })
  t.match((await intake(['keys', 'show', id])).stdout, /^events used today: 2$/m)
  t.match(await json('suspend', id), { id, state: 'suspended', suspendedAt: String })
  t.match((await intake(['keys', 'list'])).stdout, new RegExp(`^${id}\t.*\tsuspended 20`, 'm'))
  const changes = ['--events-per-day', 'default', '--origin', '*', '--bundle', '*']
  const changed = await json('set', id, '--expires', 'never', ...changes)
  t.match(changed, { origins: [], bundleIdentifiers: [], expiresAt: null, state: 'suspended' })
  t.notOk('eventsPerDay' in changed.limits)
  t.match(await json('resume', id), { id, state: 'active', suspendedAt: null })
  t.match((await intake(['keys', 'show', id])).stdout, /^events per minute: 2$/m)
  const revoke = ['keys', 'revoke', id]
  for (const what of ['changed', 'repeated']) {
    const unconfirmed = await intake(revoke, { REDIS_ACK_REPLICAS: '1' })
    t.match(unconfirmed, { code: 1, stdout: '', stderr: /^The change is made, but/ }, what)
  }
  for (const command of ['suspend', 'resume', 'revoke']) {
    t.match(await intake(['keys', command, id]), { code: 1, stderr: /or it is revoked/ }, command)
  }
  for (const [args, reason] of [
    [['set', id], /nothing to change/],
    [['set', id, '--events-per-day', '0'], /whole number from 1/],
    [['create', '--name', 'x', '--origin', 'app.example'], /is no origin/],
    [['create', '--name', 'x', '--bundle', 'com.*.app'], /is no bundle identifier/],
  ] as const) {
    const outcome = await intake(['keys', ...args])
    t.equal(outcome.code, 1)
    t.match(outcome.stderr, reason)
  }
})

t.test('env prints exports for a shell, from the running stack', async (t) => {
  writeFileSync(endpointsFile(dataDir), JSON.stringify(endpointsOfStack))
  const none = { REDIS_URL: '', CLICKHOUSE_URL: '', S3_ENDPOINT: '' }
  const outcome = await intake(['env'], { ...none, INTAKE_DATA_DIR: dataDir })
  t.match(outcome.stdout, `export REDIS_URL='redis://:it'\\''s@h'\n`)
  t.match(outcome.stdout, `export QUEUE_SHARDS='3'\n`)

  const file = join(dataDir, 'redis-url')
  writeFileSync(file, 'redis://127.0.0.1:1')
  const settings = { REDIS_URL_FILE: file, REDIS_ACK_REPLICAS: 'many' }
  writeFileSync(endpointsFile(dataDir), JSON.stringify({ ...endpointsOfStack, settings }))
  const withFile = await intake(['env'], { ...none, INTAKE_DATA_DIR: dataDir })
  t.match(withFile.stdout, `export REDIS_URL_FILE='${file}'\n`)
  t.notMatch(withFile.stdout, 'REDIS_URL=')
  const adopted = await intake(['keys', 'list'], { ...none, INTAKE_DATA_DIR: dataDir })
  t.match(adopted.stderr, '127.0.0.1:1', 'commands read the file')
  const given = { ...none, INTAKE_DATA_DIR: dataDir, REDIS_URL: redis.url }
  t.match(await intake(['keys', 'list'], given), { code: 0 }, 'another Redis has no such file')

  const missing = await intake(['env'], { ...none, INTAKE_DATA_DIR: join(dataDir, 'missing') })
  t.match(missing, {
    code: 1,
    stderr: `REDIS_URL is not set, and ${join(dataDir, 'missing', 'endpoints.json')} does not exist`,
  })
  writeFileSync(endpointsFile(dataDir), '{"redis":"redis://r"}')
  const other = await intake(['env'], { ...none, INTAKE_DATA_DIR: dataDir })
  t.match(other, { code: 1, stderr: /endpoints.json was written by another version of Intake/ })
})

t.test('help lists the commands, with examples and exit codes', async (t) => {
  t.match(await intake(['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
  const { code, stdout } = await intake(['--help'])
  t.equal(code, 0)
  for (const name of ['status', 'doctor', 'trace', 'queue', 'dead-letters', 'keys'])
    t.match(stdout, new RegExp(`^  ${name} `, 'm'))
  t.match(stdout, /^Examples:$/m)
  t.match(stdout, /^Exit codes: 0 done, 1 /m)
  t.match((await intake(['help', 'doctor'])).stdout, /^Exit codes: 0 ok, 2 degraded, 3 down, 1 /m)
})

t.test('docs/cli.md shows every command', async (t) => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  for (const name of Object.keys(commands)) {
    const command = new Command(name)
    await define(command, name)
    t.match(page, new RegExp(`^## .*\`intake ${name}\\b`, 'm'), name)
    for (const child of command.commands) t.match(page, new RegExp(`\\b${child.name()}\\b`))
  }
})

t.test('a command whose output cannot be written fails; a closed pipe is no failure', (t) => {
  const urls = { REDIS_URL: 'redis://a', CLICKHOUSE_URL: 'http://u:p@a', S3_ENDPOINT: 'http://a' }
  const run = (shell: string) =>
    spawnSync('bash', ['-o', 'pipefail', '-c', shell], {
      env: { ...process.env, ...urls, NODE: process.execPath, MAIN: main },
      encoding: 'utf8',
    })
  t.match(run('"$NODE" "$MAIN" env >/dev/full'), {
    status: 1,
    stderr: /^The output cannot be written: ENOSPC.*\n$/,
  })
  t.match(run('"$NODE" "$MAIN" env | true'), { status: 0, stderr: '' })
  t.end()
})

t.test('a signal ends an export at once, with no success, while ClickHouse hangs', async (t) => {
  let asked = 0
  const hanging = createHttpServer((_request, response) => {
    if (asked++ === 0) response.end('{"1":1}\n')
  }).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  t.teardown(() => {
    hanging.closeAllConnections()
    hanging.close()
  })
  const { port } = hanging.address() as AddressInfo
  const to = join(dataDir, 'lake')
  const url = `http://owner@127.0.0.1:${port}`
  const { child, exited } = startIntake(t, ['export', '--to', to], { ...env, CLICKHOUSE_URL: url })
  await until('it waits for ClickHouse', () => asked === 2)
  child.kill('SIGTERM')
  t.same(await exited, [null, 'SIGTERM'])
})
