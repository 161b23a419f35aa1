import t from 'tap'
import {
  addDeadLetter,
  dropDeadLetters,
  listDeadLetters,
  readDeadLetterPages,
  readDeadLetters,
  replayDeadLetters,
  type DeadLetter,
} from '../src/index.ts'
import { insertLines, type InsertRows } from '@intake/clickhouse'
import { logRow, refusal, startServer } from '../../schema/test/fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)
/** Adds a row, as an object or a line of JSON; resolves to the dead letters with its id. */
async function add(row: object | string): Promise<DeadLetter[]> {
  const line = typeof row === 'string' ? row : JSON.stringify(row)
  await addDeadLetter(clickhouse, { table: 'logs', row: line, refusal })
  const { id } = JSON.parse(line) as { id: string }
  return readDeadLetters(clickhouse, id)
}

t.test('a dead letter contains the row unchanged, once however often it is added', async (t) => {
  const sent = logRow({ params: { text: '😀 "quoted"\\' } })
  const [id, row] = [sent.id, JSON.stringify(sent)]
  await add(row)
  t.match(await add(row), [{ id, table: 'logs', row, error_code: 117, error: 'because' }])
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

t.test('two devices that chose the same id have a dead letter each', async (t) => {
  const row = logRow()
  const other = { ...row, device_uuid: logRow().device_uuid }
  await add(row)
  const letters = await add(other)
  const devices = new Set(letters.map(({ device_uuid }) => device_uuid))
  t.same(devices, new Set([row.device_uuid, other.device_uuid]))
  await dropDeadLetters(clickhouse, letters.slice(0, 1))
  t.equal((await readDeadLetters(clickhouse, row.id)).length, 1)
})

t.test('a row that is not JSON, or has no id, is kept, too', async (t) => {
  await addDeadLetter(clickhouse, { table: 'feedback', row: '{"cut', refusal })
  const letters: DeadLetter[] = []
  for await (const page of readDeadLetterPages(clickhouse)) letters.push(...page)
  const letter = letters.find(({ row }) => row === '{"cut')
  t.match(letter, { table: 'feedback', id: /^[0-9a-f-]{36}$/, bundle_identifier: '' })
  await dropDeadLetters(clickhouse, [letter!])
  t.same(await readDeadLetters(clickhouse, letter!.id), [])
})

t.test('a dead letter of a worker whose clock was ahead is dropped, too', async (t) => {
  const [letter] = await add(logRow())
  const failedAt = new Date(Date.now() + 3_600_000)
  const ahead = { ...letter, failed_at: failedAt.toISOString(), ver: failedAt.getTime() }
  await insertLines(clickhouse, { table: 'dead_letters', lines: [JSON.stringify(ahead)] })
  await dropDeadLetters(clickhouse, await readDeadLetters(clickhouse, letter!.id))
  t.same(await readDeadLetters(clickhouse, letter!.id), [])
})

t.test('a replayed row is in its table and no longer a dead letter', async (t) => {
  const row = logRow({ event: 'replayed' })
  await replayDeadLetters(clickhouse, await add(row))
  t.same(await readDeadLetters(clickhouse, row.id), [])
  const stored = await clickhouse.query('SELECT event FROM intake.logs WHERE id = {id:UUID}', {
    id: row.id,
  })
  t.same(stored, [{ event: 'replayed' }])
})

t.test('integers of 64 bits in a dead letter are exact, shown and replayed', async (t) => {
  const { id, ...fields } = logRow({ event: 'exact' })
  const params = '{"n":9007199254740993,"list":[18446744073709551615]}'
  const row = JSON.stringify({ id, ...fields }).replace('"params":{}', `"params":${params}`)
  const letters = await add(row)
  t.match(letters, [{ row }])
  await replayDeadLetters(clickhouse, letters)
  t.same(
    await clickhouse.query(
      'SELECT toJSONString(params) AS params FROM intake.logs WHERE id = {id:UUID}',
      { id },
    ),
    [{ params: '{"list":[18446744073709551615],"n":9007199254740993}' }],
  )
})

t.test('a row that is rejected again remains a dead letter', async (t) => {
  const [letter] = await add({ ...logRow(), device_uuid: 'not a uuid' })
  const outcomes = await replayDeadLetters(clickhouse, [letter!])
  t.equal(outcomes.get(letter!)?.kind, 'rejected')
  t.equal((await readDeadLetters(clickhouse, letter!.id)).length, 1)
})

t.test('many are read in pages and replayed together, except a rejected one', async (t) => {
  const rows = Array.from({ length: 150 }, (_, n) => logRow({ event: 'many', params: { n } }))
  const bad = { ...logRow({ event: 'many' }), device_uuid: 'not a uuid' }
  await Promise.all([...rows, bad].map(add))
  const ids = new Set([...rows, bad].map(({ id }) => id))
  const read: string[] = []
  let inserts = 0
  const counting = {
    insertSelect: clickhouse.insertSelect,
    insertRows: (insert: InsertRows) => {
      inserts++
      return clickhouse.insertRows(insert)
    },
  }
  for await (const page of readDeadLetterPages(clickhouse)) {
    const mine = page.filter(({ id }) => ids.has(id))
    read.push(...mine.map(({ id }) => id))
    await replayDeadLetters(counting, mine)
  }
  t.equal(new Set(read).size, 151)
  t.equal(read.length, 151)
  t.ok(inserts < 30, `${inserts} inserts`)
  const [stored] = await clickhouse.query(
    "SELECT count() AS n FROM intake.logs WHERE event = 'many'",
  )
  t.same(stored, { n: 150 })
  t.equal((await readDeadLetters(clickhouse, bad.id)).length, 1)
})
