import { randomUUID } from 'node:crypto'
import t from 'tap'
import { dayMs } from '@intake/contract'
import { listDeadLetters } from '@intake/records'
import { isoTime } from '@intake/clickhouse'
import { applyRetention } from '../src/retention/apply-retention.ts'
import { logRow, startServices, uuidV7, waitForNoGateway } from './services.ts'

const minuteMs = 60_000

// No result may depend on the time zones. The offsets of machine and server have different sizes
// and signs, so that wrong use of either shows.
const [machineZone, serverZone] = ['Asia/Kathmandu', 'America/New_York']

const machineBefore = process.env['TZ']
process.env['TZ'] = machineZone
t.teardown(() => {
  if (machineBefore === undefined) delete process.env['TZ']
  else process.env['TZ'] = machineBefore
})
const services = await startServices(t, { timeZone: serverZone })
waitForNoGateway(t)
const { clickhouse, insert, intake, keys, objects, reject } = services

t.test(`the machine is in ${machineZone}, the server in ${serverZone}`, async (t) => {
  const [zone] = await clickhouse.query('SELECT serverTimezone() AS server')
  t.same(zone, { server: serverZone })
  t.equal(new Date(2026, 0).getTimezoneOffset(), -345)
})

t.test('purge erases what a key sent in the period, and nothing else', async (t) => {
  const api_key_id = 'key_leaked'
  const hours = Array.from({ length: 48 }, (_, hour) =>
    new Date(Date.UTC(2026, 10, 20, hour)).toISOString(),
  )
  const rowsOf = (key: string) =>
    hours.map((time) => logRow({ id: uuidV7(time), time, received_at: time, api_key_id: key }))
  const rows = rowsOf(api_key_id)
  await insert('logs', [...rows, ...rowsOf('key_other')])
  for (const row of rows.slice(22, 26)) await reject({ ...row, id: randomUUID(), device: 'bad' })
  const purge = (from: string, to: string, ...more: string[]) =>
    intake(['purge', '--api-key', api_key_id, '--from', from, '--to', to, '--json', ...more])
  for (const [from, to] of [
    ['2026-11-20T22:01Z', '2026-11-21T01:01Z'],
    ['2026-11-20 22:01', '2026-11-21 01:01'],
    ['2026-11-21T03:46+05:45', '2026-11-20T20:01-05:00'],
  ] as const) {
    const { code, stdout, stderr } = await purge(from, to)
    t.equal(stderr, 'From 2026-11-20T22:01:00.000Z to 2026-11-21T01:01:00.000Z.\n')
    t.equal(code, 3)
    t.match(JSON.parse(stdout), { rows: 3, deadLetters: 3 }, from)
  }
  const erased = await purge('2026-11-20 22:01', '2026-11-21 01:01', '--yes')
  t.match(JSON.parse(erased.stdout), {
    complete: true,
    from: '2026-11-20T22:01:00.000Z',
    to: '2026-11-21T01:01:00.000Z',
    tombstones: { logs: 3, deadLetters: 3 },
    rowsDeleted: 6,
  })
  const left = await clickhouse.query<{ time: string }>(
    'SELECT time FROM intake.logs WHERE api_key_id = {api_key_id:String} ORDER BY time',
    { api_key_id },
  )
  const shown = left.map(({ time }) => isoTime(time))
  t.same(
    shown,
    hours.filter((_, hour) => hour < 23 || hour > 25),
  )
  t.equal(await services.number("count() AS n FROM intake.logs WHERE api_key_id = 'key_other'"), 48)
  t.equal((await listDeadLetters(clickhouse)).length, 1)
})

t.test('dead letters expire after their days, to the minute', async (t) => {
  await reject(logRow())
  const letters = await listDeadLetters(clickhouse)
  const failedAtMs = letters.map(({ failed_at }) => Date.parse(isoTime(failed_at)))
  const [first, last] = [Math.min(...failedAtMs), Math.max(...failedAtMs)]
  t.ok(Math.abs(Date.now() - last) < 5 * minuteMs)
  await intake(['retention', 'set', 'dead-letters', '7d'])
  const at = { clickhouse, redis: keys, objects, installation: '' }
  const early = new Date(first + 7 * dayMs - minuteMs)
  t.equal((await applyRetention(at, { now: early })).deadLetters, 0)
  const late = new Date(last + 7 * dayMs + minuteMs)
  t.ok((await applyRetention(at, { now: late })).deadLetters >= letters.length)
})

t.test('a month of records is dropped at its end in UTC', async (t) => {
  await intake(['retention', 'set', 'logs', '90d'])
  const times = ['2026-07-01T00:00:00.000Z', '2026-07-31T23:59:59.999Z']
  await insert(
    'logs',
    times.map((time) => logRow({ id: uuidV7(time), time })),
  )
  const at = { clickhouse, redis: keys, objects, installation: '' }
  const end = Date.parse('2026-08-01T00:00:00.000Z') + 90 * dayMs
  t.match(await applyRetention(at, { now: new Date(end - 1) }), { logs: [] })
  t.match(await applyRetention(at, { now: new Date(end) }), { logs: ['202607'] })
})
