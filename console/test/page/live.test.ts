import t, { type Test } from 'tap'
import type { PageOptions } from '../../src/page/page.ts'
import type { EventSummary } from '../../src/page/records.ts'
import { calmState, emptyReader, startPage } from './fixture.ts'

const minuteMs = 60_000

/**
 * Creates a reader whose queries find `rows` events, but at most as many as their `LIMIT`. The list
 * `since` gets the beginning of the window of each query by arrival.
 */
function readerOf(rows: number): { reader: PageOptions['reader']; since: string[] } {
  const since: string[] = []
  const time = '2026-11-26 12:00:00.000'
  const row = (n: number): EventSummary => ({
    id: `01a1fc28-0000-7000-8000-${String(n).padStart(12, '0')}`,
    time,
    received_at: time,
    bundle_identifier: 'shop',
    device_uuid: '01a1fc28-0000-4000-8000-000000000001',
    unique_user_id: 'anna',
    event: 'opened',
    version: null,
    os: null,
    model: null,
    country: null,
    params_start: '{}',
  })
  return {
    since,
    reader: {
      ...emptyReader,
      async query<Row>(sql: string, params: Record<string, unknown> = {}) {
        const [, max = '0'] = /LIMIT (\d+)/.exec(sql) ?? []
        if (sql.includes('received_at >= {from')) since.push(String(params['from']))
        return Array.from({ length: Math.min(rows, Number(max)) }, (_, n) => row(n)) as Row[]
      },
    },
  }
}

async function poll(t: Test, options: { rows: number; agoMs: number; visibleAgoMs: number }) {
  const { rows, agoMs, visibleAgoMs } = options
  const { reader, since } = readerOf(rows)
  const visibleUntilMs = Date.now() - visibleAgoMs
  const state = { ...calmState, visibleUntilMs: () => visibleUntilMs }
  const { url } = await startPage(t, { reader, state })
  const response = await fetch(`${url}/live/rows?since=${Date.now() - agoMs}`)
  const text = await response.text()
  return {
    state: response.headers.get('x-state'),
    rows: text.split('<details>').length - 1,
    since: Date.parse(`${since[0]?.replace(' ', 'T')}Z`),
    nextIsVisibleUntil: response.headers.get('x-since') === String(visibleUntilMs),
  }
}
t.test('a poll of live that finds more events than the view keeps says so', async (t) => {
  for (const [rows, says] of [
    [200, null],
    [201, 'Live: only the newest 200, filter to see all'],
  ] as const) {
    const found = await poll(t, { rows, agoMs: minuteMs, visibleAgoMs: minuteMs })
    t.match(found, { state: says, rows: 200 })
  }
})

t.test('a poll of live that does not read the whole backlog says so', async (t) => {
  const behind = 120 * minuteMs
  const found = await poll(t, { rows: 3, agoMs: behind, visibleAgoMs: behind })
  t.equal(found.state, 'Live: without events that arrived 30 min ago or earlier')
  t.ok(found.since > Date.now() - 31 * minuteMs, 'it reads no more than half an hour')
  t.ok(found.nextIsVisibleUntil, 'so that the next one says it too')
})
