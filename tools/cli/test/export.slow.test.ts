import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  feedbackRow,
  logRow,
  logsOf,
  picture,
  pictureSha,
  startServices,
  user,
} from './services.ts'

const services = await startServices(t)
const { reject, clickhouse, dataDir, enqueue, insert, intake, objects, putPicture } = services

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

  const feedback = feedbackRow({ unique_user_id: mine, text: 'Hello' })
  const key = `feedback/2026/11/21/${feedback.id}/1-${pictureSha}.png`
  await insert('feedback', [{ ...feedback, attachments: [await putPicture(key)] }])
  await reject(logRow({ unique_user_id: mine, device: 'bad' }))
  const waiting = logRow({ unique_user_id: mine, event: 'not stored yet' })
  await enqueue([waiting, logs[7]!, logRow()])

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
  t.same(readFileSync(join(out, key)), picture)
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
  await reject(exactRow())
  await enqueue([exactRow()])

  const { stdout } = await intake(['user', 'export', mine])
  const states = parse(stdout).map(({ state }) => state)
  t.same(states, ['visible', 'rejected', 'waiting'])
  t.equal(stdout.match(/9007199254740993\b/g)?.length, 3)
})
