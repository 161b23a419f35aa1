import t, { type Test } from 'tap'
import { startPage, view } from './fixture.ts'

const id = '01a1fc28-0000-7000-8000-000000000001'
const head = {
  id,
  time: '2026-11-21 12:00:00.000',
  received_at: '2026-11-21 12:00:00.000',
  bundle_identifier: 'shop',
  device_uuid: '01a1fc28-0000-4000-8000-000000000001',
  unique_user_id: 'anna',
}

/** Matches the queries that find records, and that read their columns. */
const ofList = /^SELECT (?:bundle_identifier, time, id|[^]*params_start)[^]*LIMIT (\d+)/

/** Opens the view of a crash. `around` returns the fields of the events that a query finds. */
async function viewWith(t: Test, around: (sql: string) => object[]): Promise<string> {
  const { url } = await startPage(t, {
    reader: {
      lines: async () => [JSON.stringify({ ...head, event: 'crash', params: {}, device: {} })],
      query: async <Row>(sql: string) =>
        around(sql).map((fields, n) => ({
          ...head,
          id: `01a1fc28-0000-7000-8000-${String(n + 100).padStart(12, '0')}`,
          params_start: '{}',
          ...fields,
        })) as Row[],
    },
  })
  const { status, text } = await view(url, `/events/${id}`)
  t.equal(status, 200)
  return text
}

t.test('a record says that it has the 25 nearest events on each side, not all', async (t) => {
  const text = await viewWith(t, (sql) => {
    const [, max = '0'] = ofList.exec(sql) ?? []
    return Array.from({ length: Math.min(60, Number(max)) }, () => ({ event: 'opened' }))
  })
  t.match(text, 'the nearest 25 events before and after, earliest first')
  t.match(text, /<b>×25<\/b>[^]*class="here bad"[^]*<b><bdi>crash<\/bdi><\/b>[^]*<b>×25<\/b>/)
})

t.test('other sessions of the device are folded, with how far away they are', async (t) => {
  const text = await viewWith(t, (sql) => {
    if (!ofList.test(sql) || sql.includes('ASC')) return []
    const times = ['2026-11-21 11:59:00.000', '2026-11-21 09:00:00.000']
    return times.map((time, n) => ({ time, event: `event-${n}` }))
  })
  t.match(text, /<summary>3 h\s+earlier:\s+<small>1 event<[^]*event-1[^]*<\/details>[^]*event-0/)
})
