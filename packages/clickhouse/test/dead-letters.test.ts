import t from 'tap'
import {
  addDeadLetter,
  ClickHouseError,
  dropDeadLetter,
  listDeadLetters,
  readDeadLetters,
  replayDeadLetter,
} from '../src/index.ts'
import { failureOf, logRow, startServer } from './fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)
const refusal = new ClickHouseError('refused', { kind: 'data', code: 117, serverText: 'because' })

t.test('a dead letter holds the row as it came, once however often it is added', async (t) => {
  const row = JSON.stringify(logRow({ params: { text: '😀 "quoted"\\' } }))
  await addDeadLetter(clickhouse, { table: 'logs', row, refusal })
  await addDeadLetter(clickhouse, { table: 'logs', row, refusal })
  const { id } = JSON.parse(row) as { id: string }
  t.match(await readDeadLetters(clickhouse, id), [
    { id, table: 'logs', row, error_code: 117, error: 'because' },
  ])
  const [listed] = await listDeadLetters(clickhouse)
  t.match(listed, {
    id,
    table: 'logs',
    bundle_identifier: 'com.example.app',
    time: '2026-11-21 03:00:00.123',
    failed_at: String,
    error_code: 117,
  })
  t.notOk('row' in listed!, 'the row is left out')
})

t.test('two devices that chose one id have a dead letter each', async (t) => {
  const row = logRow()
  const other = { ...row, device_uuid: logRow().device_uuid }
  for (const one of [row, other]) {
    await addDeadLetter(clickhouse, { table: 'logs', row: JSON.stringify(one), refusal })
  }
  const letters = await readDeadLetters(clickhouse, row.id)
  t.same(
    new Set(letters.map(({ device_uuid }) => device_uuid)),
    new Set([row.device_uuid, other.device_uuid]),
  )
  await dropDeadLetter(clickhouse, letters[0]!)
  t.equal((await readDeadLetters(clickhouse, row.id)).length, 1)
})

t.test('a row without an id, or that is no JSON, is kept all the same', async (t) => {
  await addDeadLetter(clickhouse, { table: 'feedback', row: '{"cut', refusal })
  const letters = await readDeadLetters(clickhouse)
  const letter = letters.find(({ row }) => row === '{"cut')
  t.match(letter, { table: 'feedback', id: /^[0-9a-f-]{36}$/, bundle_identifier: '' })
  await dropDeadLetter(clickhouse, letter!)
  t.same(await readDeadLetters(clickhouse, letter!.id), [])
})

t.test('a replayed row is in its table and no dead letter any more', async (t) => {
  const row = logRow({ event: 'replayed' })
  await addDeadLetter(clickhouse, { table: 'logs', row: JSON.stringify(row), refusal })
  const [letter] = await readDeadLetters(clickhouse, row.id)
  await replayDeadLetter(clickhouse, letter!)
  t.same(await readDeadLetters(clickhouse, row.id), [])
  const stored = await clickhouse.query('SELECT event FROM intake.logs WHERE id = {id:UUID}', {
    id: row.id,
  })
  t.same(stored, [{ event: 'replayed' }])
})

t.test('a row that is refused again stays a dead letter', async (t) => {
  const row = JSON.stringify({ ...logRow(), device_uuid: 'not a uuid' })
  await addDeadLetter(clickhouse, { table: 'logs', row, refusal })
  const { id } = JSON.parse(row) as { id: string }
  const [letter] = await readDeadLetters(clickhouse, id)
  t.equal((await failureOf(replayDeadLetter(clickhouse, letter!))).kind, 'data')
  t.equal((await readDeadLetters(clickhouse, id)).length, 1)
})
