import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createWaitingEntries, journalActions } from '@intake/access'
import { insertLines } from '@intake/clickhouse'
import { until } from '@intake/test-kit/until'
import { startJournal } from '../../../worker/src/watch/journal.ts'
import { logsOf, logRow, startServices, user, withoutPause } from './services.ts'

const { reject, clickhouse, dataDir, insert, intake, keys, number } = await startServices(t)
const waiting = createWaitingEntries({ redis: keys })

interface Entry {
  id: string
  at: string
  who: string
  action: string
  subject: string
  detail: object
}

const away = { CLICKHOUSE_URL: 'http://127.0.0.1:1' }
/** Runs a command; fails if it does. `env` may take ClickHouse away. */
async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await intake(args, env)
  t.equal(code, 0, `${args.join(' ')} ${stderr}`)
  return stdout
}

t.test('a day of an operator, while ClickHouse is away half of the time', async (t) => {
  const person = user()
  const secret = 'a-secret-of-the-operator'
  await insert('logs', logsOf(person, 3))
  for (const row of [logRow(), logRow()]) await reject(row)

  const create = ['keys', 'create', '--name', 'web', '--from-env', 'SECRET', '--json']
  const { id: key } = JSON.parse(await run(create, { ...away, SECRET: secret })) as { id: string }
  await run(['keys', 'set', key, '--events-per-day', '5'])
  await run(['keys', 'suspend', key], away)
  await run(['keys', 'suspend', key], away)
  await run(['keys', 'resume', key])
  const added = await run(
    ['rules', 'add', 'drop', '--event', 'noise', '--by', 'ana', '--json'],
    away,
  )
  const { id: rule } = JSON.parse(added) as { id: string }
  await run(['queue', 'pause', '--kind', 'logs'], away)
  await run(['queue', 'pause', '--kind', 'logs'], away)
  await run(['queue', 'resume'])
  await run(['retention', 'set', 'feedback', '90d'])
  const [letter] = JSON.parse(await run(['dead-letters', 'list', '--json'])) as { id: string }[]
  await run(['dead-letters', 'replay', letter!.id])
  await run(['dead-letters', 'drop', '--all'])
  await run(['user', 'export', person])
  await withoutPause(t, () => run(['user', 'erase', person, '--suppress', '--yes']))
  await run(['user', 'unsuppress', person])
  t.equal((await intake(['user', 'unsuppress', person])).code, 1)
  await run(['rules', 'remove', rule, '--by', 'bo'], away)
  await run(['keys', 'revoke', key], away)

  const expected = [
    ['key-created', key],
    ['key-set', key],
    ['key-suspended', key],
    ['key-resumed', key],
    ['rule-added', rule],
    ['queue-paused', 'logs'],
    ['queue-resumed', 'logs'],
    ['retention-set', 'feedback'],
    ['dead-letters-replayed', letter!.id],
    ['dead-letters-dropped', 'all'],
    ['subject-exported', /^[\w=+/:-]{20,}$/],
    ['sender-suppressed', /^hmac-sha256:/],
    ['erasure-begun', /^[\w=+/:-]{20,}$/],
    ['sender-unsuppressed', /^hmac-sha256:/],
    ['rule-removed', rule],
    ['key-revoked', key],
  ].map(([action, subject]) => ({ action, subject }))
  t.match(
    (await waiting.peek(100)).map((row) => JSON.parse(row)),
    expected,
  )
  t.match(await intake(['journal', '--json'], away), { code: 1, stdout: '' })

  // As a worker does that is killed after its insert.
  await insertLines(clickhouse, { table: 'journal', lines: await waiting.peek(100) })
  const onError = (error: unknown) => t.error(error)
  const moving = startJournal({ redis: keys, store: clickhouse, isConfirmed: () => true, onError })
  t.teardown(() => moving.close())
  await until('all are moved', async () => (await waiting.peek(1)).length === 0)
  moving.close()
  const entries = JSON.parse(await run(['journal', '--json'])) as Entry[]
  t.match(entries, expected)
  t.equal(entries.length, expected.length)
  t.match(entries[1]?.detail, { before: { limits: {} }, after: { limits: { eventsPerDay: 5 } } })
  t.match(entries[7]?.detail, { before: null, after: 90 })
  const by = new Map<string, (string | RegExp)[]>([
    [rule, ['ana', 'bo']],
    [key, Array.from({ length: 5 }, () => /@/)],
  ])
  for (const [subject, who] of by)
    t.match(
      entries.filter((one) => one.subject === subject).map((one) => one.who),
      who,
    )

  const text = JSON.stringify(entries)
  t.notMatch(text, secret)
  t.notMatch(text, person)
  t.ok(entries.every(({ action }) => action in journalActions))
  const lines = (await run(['journal', '--since', entries.at(-1)!.at])).trimEnd().split('\n')
  t.match(lines.at(-1), new RegExp(`^\\S+Z\tkey-revoked\t${key}\t`))
})

t.test('what is refused is not in the journal', async (t) => {
  const actions = async () =>
    (await waiting.peek(100)).map((row) => (JSON.parse(row) as Entry).action)
  const before = await actions()
  mkdirSync(join(dataDir, 'manifests'))
  writeFileSync(join(dataDir, 'manifests/1.json'), '{"installation":"another"}')
  for (const args of [
    ['export', '--to', `dir:${dataDir}`],
    ['user', 'export', user(), '--out', dataDir],
    ['retention', 'set', 'logs', 'general'],
  ]) {
    t.equal((await intake(args)).code, 1, args.join(' '))
  }
  t.same(await actions(), before)
  const lake = ['export', '--to', `dir:${join(dataDir, 'lake')}`]
  await insert('logs', logsOf(user(), 1))
  await clickhouse.command(
    `INSERT INTO intake.watermark_raw (kind, visible_until) VALUES ('logs', '2026-11-21'), ('feedback', '2026-11-21')`,
  )
  for (const _ of [1, 2]) await run(lake)
  t.same((await actions()).slice(before.length), ['records-exported'], 'only what was exported')
})

t.test('with Redis of another installation nothing is erased or moved', async (t) => {
  const person = user()
  await insert('logs', logsOf(person, 1))
  const mark = (await keys.get('{intake}:installation'))!
  await keys.set('{intake}:installation', 'another')
  t.teardown(() => keys.set('{intake}:installation', mark))
  const refused = await intake(['user', 'erase', person, '--yes'])
  t.match(refused, { code: 1, stderr: /belong to different installations/ })
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${person}'`), 1)
  await run(['keys', 'create', '--name', 'theirs', '--bundle', 'com.example.theirs'])
  const entries = await waiting.peek(9)
  t.match(entries.at(-1), /key-created/, 'its entry waits for a worker of that installation')
})
