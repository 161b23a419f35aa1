import t from 'tap'
import { PageError } from '../../src/page/page-error.ts'
import type { TimeWindow } from '../../src/page/period.ts'
import { readInWindows } from '../../src/page/read-in-windows.ts'
import { printSearch, readSearch } from '../../src/page/search.ts'

const read = (query: string) => readSearch(new URLSearchParams(query), 'feedback')

t.test('a search is read as it was printed', async (t) => {
  const search = {
    text: '50 % & "more"',
    application: 'com.example.app',
    version: '1.0',
    user: 'Ünï',
    device: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
    from: new Date('2026-11-01T00:00:00Z'),
    to: new Date('2026-11-23T10:30:15.250Z'),
    after: {
      id: '01a1fc28-0000-7000-8000-000000000001',
      device: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
      application: 'com.example.app',
    },
  }
  t.same(read(printSearch(search)), search)
})

t.test('times are UTC, with or without seconds; empty fields are absent', async (t) => {
  t.same(read('from=2026-11-23T10:00&to=&text=+'), { from: new Date('2026-11-23T10:00:00Z') })
  t.same(read('to=2026-11-23'), { to: new Date('2026-11-23T00:00:00Z') })
  t.same(read('event=x'), {}, 'feedback has no event')
})

t.test('400 for what cannot be read', async (t) => {
  for (const query of [
    'from=yesterday',
    'from=2026-13-01',
    'from=2026-02-30',
    'to=2026-02-30T10:00',
    'to=2026-11-23T24:00',
    'to=-1',
    'device=1',
    'text=a&text=b',
    `text=${'x'.repeat(601)}`,
    'after=1',
    'after=bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10.bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10.app',
  ]) {
    t.throws(() => read(query), { name: 'PageError', statusCode: 400 }, query)
  }
  t.throws(() => read('from=2026-02-30'), { message: /^from must be a time that exists/ })
  const six = Array.from({ length: 6 }, (_, n) => `extra.field${n}=1`).join('&')
  t.throws(() => read(six), { message: 'A search has at most 5 conditions on extra.' })
  t.type(new PageError(400, ''), Error)
})

const hourMs = 3_600_000
const dayMs = 24 * hourMs

t.test('windows grow, do not overlap, and end when there are enough rows', async (t) => {
  const windows: TimeWindow[] = []
  const within = { from: 0, to: 1_000 * dayMs }
  const all = await readInWindows({
    within,
    rowsMax: 10,
    read: async (window) => [windows.push(window)],
  })
  t.same(all.rows, [1, 2, 3, 4])
  t.equal(windows[0]?.to, within.to)
  t.equal(windows.at(-1)?.from, 0)
  for (const [index, window] of windows.slice(1).entries()) t.equal(window.to, windows[index]?.from)

  const enough = await readInWindows({ within, rowsMax: 2, read: async () => [1, 1] })
  t.same(enough, { rows: [1, 1] })
})

t.test('forwards they begin at the beginning', async (t) => {
  const starts: number[] = []
  await readInWindows({
    within: { from: 5, to: 40 * dayMs },
    forwards: true,
    rowsMax: 1,
    read: async ({ from }) => {
      starts.push(from)
      return []
    },
  })
  t.same(starts, [5, 5 + hourMs, 5 + 25 * hourMs, 5 + 745 * hourMs])
})

t.test('a search that takes long says where it ended', async (t) => {
  let now = 0
  const { rows, unread } = await readInWindows({
    within: { from: 0, to: 100 * dayMs },
    rowsMax: 10,
    read: async () => {
      now += 4_000
      return ['row']
    },
    clock: { now: () => now },
  })
  t.same(rows, ['row', 'row'])
  t.same(unread, { from: 0, to: 100 * dayMs - 25 * hourMs })
})
