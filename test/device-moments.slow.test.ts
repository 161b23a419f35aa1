import { decompress } from '@intake/queue/frame'
import * as fc from 'fast-check'
import t from 'tap'
import { momentDeviceFields, type RecordKind } from '@intake/contract'
import { startServer } from '../packages/schema/test/fixture.ts'
import { send as sendForm, payload } from '../gateway/test/forms.ts'
import { checkProperty } from '../gateway/test/properties/property.ts'
import { headers, logBody, startGateway } from '../gateway/test/support.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)
const gateway = await startGateway(t)

type Moments = Record<string, string>
interface Stored {
  id: string
  device: Record<string, string | null>
  device_extra: Record<string, unknown>
}

/** Sends a log event and a feedback for each device, and reads both as an analyst sees them. */
async function storedOf(devices: readonly Moments[]): Promise<Map<string, [Moments, Stored]>> {
  const sent = new Map<string, Moments>()
  for (const device of devices) {
    const request = { method: 'POST', url: '/api/log', headers } as const
    const response = await gateway.app.inject({ ...request, payload: logBody({}, { device }) })
    const form = await sendForm(gateway, [payload({}, { device })])
    if (response.statusCode !== 201 || form.status !== 201) throw new Error('a device was refused')
    sent.set(response.json<Stored>().id, device).set(form.body.id, device)
  }
  const stored = new Map<string, [Moments, Stored]>()
  for (const table of ['logs', 'feedback'] as const) {
    for (const row of await insert(table)) stored.set(row.id, [sent.get(row.id)!, row])
  }
  if (stored.size !== sent.size) throw new Error('a row is missing')
  return stored
}

async function insert(table: RecordKind): Promise<Stored[]> {
  const frames = gateway.frames[table].splice(0)
  const rows = frames.reduce((sum, frame) => sum + frame.rows, 0)
  const members = frames.map(({ bytes }) => bytes)
  await clickhouse.insertRows({ table, coding: frames[0]?.coding, members, rows })
  const json = frames.flatMap((frame) => decompress(frame).toString().trimEnd().split('\n'))
  const ids = json.map((row) => (JSON.parse(row) as Stored).id)
  return clickhouse.query<Stored>(
    `SELECT id, device, device_extra FROM intake.${table} WHERE id IN {ids:Array(UUID)}`,
    { ids },
  )
}

/** Returns the place of a sent string: its column, `device_extra`, or nowhere if it is empty. */
function placeOf(name: string, sent: string, { device, device_extra }: Stored): string {
  const column = device[name] ?? null
  const extra = device_extra[name]
  if (column !== null && extra === undefined && isSame(sent, column)) return 'column'
  if (column === null && extra === sent.toWellFormed() && sent !== '') return 'device_extra'
  if (column === null && extra === undefined && sent === '') return 'nowhere'
  throw new Error(`${name}: ${JSON.stringify({ sent, column, extra })}`)
}

/** Whether a column holds the sent date or time. Times in columns have milliseconds. */
const isSame = (sent: string, column: string) =>
  column.length === 10
    ? column === sent
    : Date.parse(`${column.replace(' ', 'T')}Z`) === Date.parse(sent)

const digits = (count: number, max: number) =>
  fc.integer({ min: 0, max }).map((number) => String(number).padStart(count, '0'))
const likeDate = fc
  .tuple(fc.constantFrom('', '-', '+', '+00'), digits(4, 9999), digits(2, 14), digits(2, 33))
  .map(([sign, year, month, day]) => `${sign}${year}-${month}-${day}`)
const likeTime = fc
  .tuple(
    likeDate,
    fc.constantFrom('T', 't', ' '),
    digits(2, 25),
    digits(2, 61),
    digits(2, 61),
    fc.constantFrom('', '.5', '.123', ',5', '.123456789', '.1234567890'),
    fc.constantFrom('Z', 'z', '', '+01:00', '-23:59', '+14:00', '+0100', ' UTC', '+25:00'),
  )
  .map(([date, t, hours, minutes, seconds, fraction, zone]) =>
    [date, t, hours, ':', minutes, ':', seconds, fraction, zone].join(''),
  )
const date = fc.date({
  min: new Date('1890-01-01'),
  max: new Date('2310-01-01'),
  noInvalidDate: true,
})
const moment = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  // Random texts. Many of them contain lone surrogates.
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('utf16le')),
  date.map((at) => at.toISOString()),
  date.map((at) => at.toISOString().slice(0, 10)),
  likeDate,
  likeTime,
  fc.integer().map(String),
)

t.test('any string in a date or time of the device is accepted, and kept as it is', async (t) => {
  const names = momentDeviceFields.map(({ name }) => name)
  const device = fc.record(Object.fromEntries(names.map((name) => [name, moment])))
  const places = new Map<string, number>()
  await checkProperty(t, {
    runs: 12,
    value: fc.array(device, { minLength: 20, maxLength: 40 }),
    async holds(devices) {
      for (const [sent, stored] of (await storedOf(devices)).values()) {
        for (const name of names) {
          const place = placeOf(name, sent[name]!, stored)
          places.set(place, (places.get(place) ?? 0) + 1)
        }
      }
    },
  })
  t.comment(Object.fromEntries(places))
  for (const place of ['column', 'device_extra']) t.ok(places.get(place), `some are in ${place}`)
})

t.test('unknown fields of the device keep their places beside them', async (t) => {
  const device = { build_time: 'unknown', build_time_zone: 'UTC', ram: 4096, os: 'Android' }
  for (const [, stored] of (await storedOf([device as unknown as Moments])).values()) {
    t.same(stored.device_extra, { build_time: 'unknown', build_time_zone: 'UTC', ram: 4096 })
    t.match(stored.device, { os: 'Android', build_time: null })
  }
})
