import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { compress } from '@intake/queue/frame'
import { member } from '../../../packages/schema/test/fixture.ts'
import { feedbackRow, logRow, logsOf, startServices, user } from './services.ts'

const { clickhouse, dataDir, insert, intake, keys, objects } = await startServices(t)

const parse = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

t.test('an export has every record of the user and no other, with its state', async (t) => {
  const [mine, other] = [user(), user()]
  const logs = logsOf(mine, 250, { params: { big: 1 } })
  await insert('logs', [...logs, ...logsOf(other, 20)])
  await insert('logs', logs.slice(0, 50))
  const later = { ...logs[0], event: 'repeated', received_at: '2026-11-22T00:00:00.000Z' }
  await insert('logs', [later])

  const body = Buffer.from('a picture')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const feedback = feedbackRow({ unique_user_id: mine, text: 'Hello' })
  const key = `feedback/2026/11/21/${feedback.id}/1-${sha256}.png`
  await objects.put({ key, body, contentType: 'image/png', sha256 })
  const attachments = [{ key, content_type: 'image/png', bytes: body.length, sha256 }]
  await insert('feedback', [{ ...feedback, attachments }])

  const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText: 'why' })
  const bad = logRow({ unique_user_id: mine, device: 'bad' })
  await addDeadLetter(clickhouse, { table: 'logs', row: JSON.stringify(bad), refusal })
  const waiting = logRow({ unique_user_id: mine, event: 'not stored yet' })
  const sink = createJobSink({ redis: keys, kind: 'logs' })
  t.teardown(() => sink.close())
  await createFrameProducer({ sink }).add(
    {
      rows: 3,
      jsonBytes: 100,
      coding: 'gzip' as const,
      bytes: member([waiting, logs[7]!, logRow()]),
      receivedAtMs: Date.now(),
    },
    performance.now() + 60_000,
  )

  const { code, stdout, stderr } = await intake(['user', 'export', mine])
  t.equal(code, 0, stderr)
  const lines = parse(stdout)
  const count = (kind: string, state: string) =>
    lines.filter((line) => line['kind'] === kind && line['state'] === state).length
  t.equal(count('log', 'visible'), 250)
  t.equal(count('log', 'superseded'), 1)
  t.equal(count('feedback', 'visible'), 1)
  t.equal(count('dead_letter', 'rejected'), 1)
  t.equal(count('log', 'waiting'), 1)
  t.equal(lines.length, 254)
  t.notMatch(stdout, other)
  t.match(
    lines.find(({ state }) => state === 'superseded'),
    { id: later.id, event: 'repeated' },
  )

  const out = join(dataDir, 'out')
  const toFolder = await intake(['device', 'export', feedback.device_uuid, '--out', out])
  t.match(toFolder, { code: 0, stdout: '', stderr: '1 record, 1 attachment\n' })
  t.match(parse(readFileSync(join(out, 'records.jsonl'), 'utf8')), [
    { id: feedback.id, text: 'Hello' },
  ])
  t.same(readFileSync(join(out, key)), body)
  t.equal(statSync(join(out, 'records.jsonl')).mode & 0o77, 0, 'only the owner can read it')
  const again = await intake(['device', 'export', feedback.device_uuid, '--out', out])
  t.match(again, { code: 1, stderr: /is not empty/ })

  await objects.remove([key])
  const lost = await intake(['user', 'export', mine, '--out', join(dataDir, 'lost')])
  t.match(lost, { code: 1, stderr: /missing or damaged:\n {2}feedback\// })
})

t.test('integers of 64 bits are exact, stored, rejected and waiting', async (t) => {
  const mine = user()
  const exactRow = () =>
    JSON.stringify(logRow({ unique_user_id: mine, params: { n: 'N' } })).replace(
      '"N"',
      '9007199254740993',
    )
  const stored = [gzipSync(`${exactRow()}\n`)]
  await clickhouse.insertRows({ table: 'logs', members: stored, rows: 1 })
  const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText: 'why' })
  await addDeadLetter(clickhouse, { table: 'logs', row: exactRow(), refusal })
  const sink = createJobSink({ redis: keys, kind: 'logs' })
  t.teardown(() => sink.close())
  const waiting = { rows: 1, jsonBytes: 100, ...compress(`${exactRow()}\n`) }
  const deadline = performance.now() + 60_000
  await createFrameProducer({ sink }).add({ ...waiting, receivedAtMs: Date.now() }, deadline)

  const { stdout } = await intake(['user', 'export', mine])
  t.same(
    parse(stdout).map(({ state }) => state),
    ['visible', 'rejected', 'waiting'],
  )
  t.equal(stdout.match(/9007199254740993\b/g)?.length, 3)
})
