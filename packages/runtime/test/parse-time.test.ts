import t from 'tap'
import { parseTime } from '../src/index.ts'

const zones = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Kiritimati']
const machineZone = process.env['TZ']
t.teardown(() => {
  if (machineZone === undefined) delete process.env['TZ']
  else process.env['TZ'] = machineZone
})

for (const zone of zones) {
  t.test(`a time is the same moment on a machine in ${zone}`, (t) => {
    process.env['TZ'] = zone
    for (const [text, moment] of [
      ['2026-11-23', '2026-11-23T00:00:00.000Z'],
      ['2026-11-23T10:00', '2026-11-23T10:00:00.000Z'],
      ['2026-11-23 10:00', '2026-11-23T10:00:00.000Z'],
      ['2026-11-23T10:00:15', '2026-11-23T10:00:15.000Z'],
      ['2026-11-23 10:00:15.250', '2026-11-23T10:00:15.250Z'],
      ['2026-11-23T10:00:15.2Z', '2026-11-23T10:00:15.200Z'],
      ['2026-11-23T10:00+05:45', '2026-11-23T04:15:00.000Z'],
      ['2026-11-23T22:00:00-05:00', '2026-11-24T03:00:00.000Z'],
      // This hour does not exist in zones that change to summer time at 02:00, but it does in UTC.
      ['2026-03-08 02:30', '2026-03-08T02:30:00.000Z'],
      ['2028-02-29', '2028-02-29T00:00:00.000Z'],
      ['9999-12-31', '9999-12-31T00:00:00.000Z'],
    ] as const)
      t.equal(parseTime(text)?.toISOString(), moment, text)
    t.end()
  })
}

t.test('what is no time, or does not exist, is refused', (t) => {
  for (const text of [
    '',
    'yesterday',
    '2026',
    '2026-11',
    '11/23/2026',
    'Nov 23 2026',
    '1795424400',
    '2026-02-30',
    '2026-02-29',
    '2026-04-31T10:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-11-00',
    '2026-11-23T24:00',
    '2026-11-23T23:60',
    '2026-11-23T23:59:60Z',
    '2026-11-23T10',
    '2026-11-23T10:00 +01:00',
    '2026-11-23T10:00+15:00',
    '2026-11-23T10:00+0100',
    '2026-11-23Z',
    '2026-11-23T10:00:00.1234Z',
    ' 2026-11-23',
    '1969-12-31T23:59:59Z',
    '+02026-11-23',
  ])
    t.equal(parseTime(text), undefined, text)
  t.end()
})
