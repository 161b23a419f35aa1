import { createHash } from 'node:crypto'
import t from 'tap'
import { thumbnailKey } from '@intake/contract'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError, createClickHouse } from '@intake/clickhouse'
import { createPolicyStore } from '@intake/access'
import { applyRetention } from '../src/retention/apply-retention.ts'
import { factsRow, feedbackRow, logRow, startServices, user, uuidV7 } from './services.ts'

const { clickhouse, insert, intake, keys, number, objects, server } = await startServices(t)
const services = { clickhouse, redis: keys, objects, installation: '' }

const policy = createPolicyStore({ redis: keys })

const at = (time: string) => ({ id: uuidV7(time), time })

t.test('nothing is dropped by default', async (t) => {
  const { stdout } = await intake(['retention', 'show'])
  const never = ['logs', 'feedback', 'dead-letters', 'counts'].map(
    (kind) => `${kind}\tnever dropped\n`,
  )
  t.equal(stdout, never.join(''))
  await insert('logs', [logRow(at('2021-01-01T00:00:00.000Z'))])
  t.match(await applyRetention(services, { now: new Date('2030-01-01') }), {
    logs: [],
    feedback: [],
    deadLetters: 0,
    objects: 0,
  })
  t.equal(await number('count() AS n FROM intake.logs'), 1)
})

t.test('whole months are dropped when their last moment is too old', async (t) => {
  t.match(await intake(['retention', 'set', 'logs', '90d']), { code: 0, stdout: 'logs\t90d\n' })
  t.equal((await policy.load())!.retentionDays.logs, 90, 'gateways know it at once')
  await insert(
    'logs',
    ['2026-06-30T23:59:59.999Z', '2026-07-01T00:00:00.000Z', '2026-07-31T23:59:59.999Z'].map(
      (time) => logRow(at(time)),
    ),
  )
  const end = Date.parse('2026-08-01T00:00:00.000Z')
  const days90 = 90 * 86_400_000
  t.match(await applyRetention(services, { now: new Date(end + days90 - 1) }), {
    logs: ['202101', '202606'],
  })
  t.equal(
    await number('count() AS n FROM intake.logs'),
    2,
    'a month is kept whole until it is over',
  )
  t.match(await applyRetention(services, { now: new Date(end + days90) }), { logs: ['202607'] })
  t.equal(await number('count() AS n FROM intake.logs_raw'), 0)
  t.equal((await policy.load())!.droppedUntilMs.logs, end, 'gateways refuse what may come back')
  await intake(['retention', 'set', 'logs', 'never'])
  t.match(await policy.load(), {
    retentionDays: { logs: undefined },
    droppedUntilMs: { logs: end },
  })
  await intake(['retention', 'set', 'logs', '90d'])
})

t.test(
  'a hidden repeat does not reappear, and a late one is dropped by the next run',
  async (t) => {
    const row = logRow({ ...at('2026-07-10T00:00:00.000Z'), event: 'first' })
    await insert('logs', [row])
    await insert('logs', [{ ...row, event: 'repeat', received_at: '2026-07-30T00:00:00.000Z' }])
    const now = new Date('2026-11-20')
    t.match(await applyRetention(services, { now }), { logs: ['202607'] })
    t.equal(await number('count() AS n FROM intake.logs_raw'), 0)
    await insert('logs', [row])
    t.match(await applyRetention(services, { now }), { logs: ['202607'] })
    t.equal(await number('count() AS n FROM intake.logs_raw'), 0)
  },
)

t.test('feedback goes with its objects, also those that an earlier run left', async (t) => {
  await intake(['retention', 'set', 'feedback', '30d'])
  const body = Buffer.from('a picture')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const put = async (day: string) => {
    const key = `feedback/${day}/${uuidV7('2026-07-10T00:00:00.000Z')}/1-${sha256}.png`
    await objects.put({ key, body, contentType: 'image/png', sha256 })
    return key
  }
  await insert('feedback', [feedbackRow(at('2026-07-10T00:00:00.000Z')), feedbackRow()])
  // Facts of attachments can be stored after their feedback was dropped. So June has facts here,
  // but no feedback.
  for (const time of ['2026-06-10T00:00:00.000Z', '2026-07-10T00:00:00.000Z'])
    await insert('attachments', [factsRow(feedbackRow(at(time)))])
  await insert('attachments', [factsRow(feedbackRow())])
  const [old, older, recent] = [
    await put('2026/07/10'),
    await put('2025/12/31'),
    await put('2026/11/21'),
  ]
  const thumbnail = { key: thumbnailKey(old), body, contentType: 'image/webp', sha256 }
  await objects.put(thumbnail)
  const dry = await intake(['retention', 'apply', '--dry-run', '--json'])
  const found = JSON.parse(dry.stdout) as { dryRun: boolean; feedback: string[]; objects: number }
  t.ok(found.dryRun && found.feedback.includes('202607') && found.objects >= 2, dry.stdout)
  t.match(await intake(['retention', 'apply', '--dry-run']), {
    code: 0,
    stdout: /feedback\tmonths to drop: 202606 202607.*to delete; nothing is dropped\n$/s,
  })
  t.equal(await number('count() AS n FROM intake.feedback'), 2)
  t.same(await objects.get(old), body)
  const report = await applyRetention(services, { now: new Date('2026-11-22') })
  t.match(report, { feedback: ['202606', '202607'], objects: 3 })
  const { stdout } = await intake(['erasures', 'list'])
  t.match(JSON.parse(stdout.trim().split('\n').at(-1)!), {
    kind: 'retention',
    finished_at: String,
    report: { feedback: ['202606', '202607'], objects: 3 },
  })
  t.equal(await number('count() AS n FROM intake.feedback'), 1)
  t.equal(await objects.get(old), undefined)
  t.equal(await objects.get(thumbnail.key), undefined)
  t.equal(await number('count() AS n FROM intake.attachments_raw'), 1)
  t.equal(await objects.get(older), undefined)
  t.same(await objects.get(recent), body)
})

t.test('dead letters are deleted by the time of their failure', async (t) => {
  await intake(['retention', 'set', 'dead-letters', '7d'])
  const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText: 'why' })
  const row = JSON.stringify(logRow({ unique_user_id: user() }))
  await addDeadLetter(clickhouse, { table: 'logs', row, refusal })
  const soon = new Date(Date.now() + 6 * 86_400_000)
  t.equal((await applyRetention(services, { now: soon })).deadLetters, 0)
  const later = new Date(Date.now() + 8 * 86_400_000)
  t.equal((await applyRetention(services, { now: later })).deadLetters, 1)
  const owner = createClickHouse({ url: server.url })
  t.teardown(() => owner.close())
  await owner.command(
    'ALTER TABLE intake.dead_letters_raw DELETE WHERE false SETTINGS mutations_sync = 1',
  )
  t.equal(await number('count() AS n FROM intake.dead_letters_raw'), 0)
})

t.test('wrong usage is reported, with exit code 1', async (t) => {
  t.match(await intake(['retention', 'set', 'logs', '90']), { code: 1, stderr: /1d to 36500d/ })
  t.match(await intake(['retention', 'set', 'pictures', '9d']), {
    code: 1,
    stderr: /choices are logs/,
  })
})
