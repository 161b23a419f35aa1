import t from 'tap'
import type { IncomingMessage } from 'node:http'
import { chart } from '../../src/page/charts.ts'
import { timeTag } from '../../src/page/views/links.ts'
import { inZone, localTime, readZone, zoneLabel } from '../../src/page/zone.ts'
import { startPage, view } from './fixture.ts'

const request = (cookie?: string) => ({ headers: { cookie } }) as IncomingMessage

t.test('times are printed in the zone of the reader, also across summer time', async (t) => {
  t.equal(localTime('2026-06-30 23:30:00.123'), '2026-06-30 23:30:00.123')
  inZone('Europe/Berlin', () => {
    t.equal(localTime('2026-06-30 23:30:00.123'), '2026-07-01 01:30:00.123')
    t.equal(localTime(Date.UTC(2026, 10, 30, 23, 30)), '2026-12-01 00:30:00.000')
    t.equal(zoneLabel(Date.UTC(2026, 6, 1)), 'UTC+02:00')
  })
  inZone('America/St_Johns', () => {
    t.equal(localTime('2026-01-01 00:00:00.000'), '2025-12-31 20:30:00.000')
    t.equal(zoneLabel(Date.UTC(2026, 0, 1)), 'UTC−03:30')
  })
})

t.test('a time has the offset that its zone had then', async (t) => {
  inZone('Europe/Berlin', () => {
    t.match(String(timeTag('2026-06-30 23:30:00.123')), 'title="2026-07-01 01:30:00.123 UTC+02:00"')
    t.match(String(timeTag('2026-12-01 12:00:00.000')), 'title="2026-12-01 13:00:00.000 UTC+01:00"')
  })
})

t.test(
  'a chart has its marks at midnights of the reader, and days of UTC as they are',
  async (t) => {
    const marks = (zone: string, stepMs: number, days: number) =>
      inZone(zone, () => {
        // The week has the end of the month, and in Berlin that of summer time.
        const points = Array.from({ length: (days * 86_400_000) / stepMs }, (_, n) => ({
          t: Date.UTC(2026, 9, 24) + n * stepMs,
        }))
        const text = String(
          chart({ points, stepMs, columns: [['events', 'events']], label: 'Events' }),
        )
        return Array.from(text.matchAll(/y="124"[^>]*>([^<]*)</g), ([, mark]) => mark)
      })
    const hour = 3_600_000
    for (const zone of ['Asia/Kathmandu', 'America/St_Johns', 'Europe/Berlin', 'UTC'])
      t.match(marks(zone, 3 * hour, 9).join(), /26 Oct.*28 Oct.*30 Oct.*1 Nov/, zone)
    t.match(marks('Asia/Kathmandu', hour, 1).join(), /^09:00,12:00/)
    t.match(marks('Asia/Kathmandu', 24 * hour, 9).join(), /^25 Oct.*1 Nov/)
  },
)

t.test('a chart across a change of the clock has no mark at a wrong time', async (t) => {
  const minute = 60_000
  for (const [from, minutes] of [
    ['2026-10-25T00:30:00Z', 60],
    ['2026-10-25T00:45:00Z', 30],
    ['2026-03-29T00:30:00Z', 60],
    ['2026-10-24T18:00:00Z', 24 * 60],
    ['2026-03-28T18:00:00Z', 24 * 60],
  ] as const) {
    const beginMs = Date.parse(from)
    const stepMs = minutes > 60 ? 60 * minute : minute
    inZone('Europe/Berlin', () => {
      const points = Array.from({ length: (minutes * minute) / stepMs }, (_, n) => ({
        t: beginMs + n * stepMs,
      }))
      const text = String(chart({ points, stepMs, columns: [], label: 'Events' }))
      const marks = Array.from(text.matchAll(/x="([\d.]+)%"\s+y="124"[^>]*>([^<]*)</g))
      t.ok(marks.length > 2, from)
      for (const [, x, mark = ''] of marks) {
        const clock = localTime(Math.round(beginMs / minute + (Number(x) / 100) * minutes) * minute)
        t.ok(mark.includes(':') ? clock.slice(11, 16) === mark : clock.includes(' 00:00'), mark)
      }
    })
  }
})

t.test('the zone is chosen by tz, which a cookie keeps; anything else is UTC', async (t) => {
  t.match(readZone(new URLSearchParams('tz=Asia/Kolkata'), request()), {
    zone: 'Asia/Kolkata',
    cookie: /^tz=Asia\/Kolkata; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
  })
  t.same(readZone(new URLSearchParams(), request('a=b; tz=Asia/Tokyo')), { zone: 'Asia/Tokyo' })
  for (const cookie of [undefined, 'tz=Nowhere/Land', 'tz=%00', 'xtz=Asia/Tokyo'])
    t.same(readZone(new URLSearchParams(), request(cookie)), { zone: 'UTC' })
})

t.test('a view says its zone, keeps it, and refuses one that does not exist', async (t) => {
  const { url } = await startPage(t)
  const utc = (await view(url, '/events?event=a')).text
  // In the first seconds of a day, the time was yesterday, and has its date.
  t.match(utc, /complete up to [\d: -]+<\/span>\s*UTC ·/)
  t.match(utc, /Times are in UTC, or in<\/label>/)
  const chosen = await fetch(`${url}/events?event=a&tz=Asia/Kathmandu`)
  const cookie = chosen.headers.get('set-cookie') ?? ''
  t.match(
    await chosen.text(),
    /complete up to [\d: -]+<\/span>\s*UTC\+05:45 ·[^]*name="event" value="a"/,
  )
  const kept = await fetch(`${url}/events`, { headers: { cookie: cookie.split(';')[0] ?? '' } })
  t.match(await kept.text(), /UTC\+05:45[^]*Times are in Asia\/Kathmandu, or in/)
  const { text } = await view(url, '/events?event=what?&tz=UTC')
  t.equal(text.split('name="event" value="what?"').length, 3, 'also in the field of the zone')
  t.match(await view(url, '/events?tz=Mars'), { status: 400, text: 'such as Europe/Berlin' })
})
