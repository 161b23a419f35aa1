import t from 'tap'
import type { OutcomeCode } from '@intake/contract'
import { createTestClock } from '@intake/test-kit/test-clock'
import { OutcomeCounts, type OutcomeReport } from '../../src/report/outcome-counts.ts'

const noon = Date.UTC(2026, 10, 23, 12)
const minuteMs = 60_000

function build(limits?: { countersMax: number; minutesMax: number }) {
  const clock = createTestClock()
  const counts = new OutcomeCounts({ clock, ...(limits && { limits }) })
  const accept = (atMs: number, records = 1, apiKeyId = 'a') =>
    counts.count({ apiKeyId, kind: 'logs', code: 'accepted', atMs, records })
  const refuse = (atMs: number, code: OutcomeCode, apiKeyId = 'a') =>
    counts.count({ apiKeyId, kind: 'logs', code, atMs, records: 1 })
  const confirm = (reports: OutcomeReport[]) => reports.forEach((one) => counts.confirm(one))
  return { clock, counts, accept, refuse, confirm }
}

/**
 * Returns what `intake.outcomes` would show after these reports: the sum of the highest count of
 * each identity. The order of reports does not matter.
 */
function shown(reports: OutcomeReport[]): Record<string, number> {
  const sums: Record<string, number> = {}
  const highest = new Map<string, number>()
  for (const { minuteMs: minute, apiKeyId, kind, code, run, records } of reports) {
    const name = `${(minute - noon) / minuteMs} ${apiKeyId} ${code}`
    const identity = [name, kind, run].join(' ')
    const known = highest.get(identity) ?? 0
    highest.set(identity, Math.max(records, known))
    sums[name] = (sums[name] ?? 0) + Math.max(records - known, 0)
  }
  return sums
}

t.test('records are counted by minute of arrival, key and code', async (t) => {
  const { counts, accept, refuse } = build()
  accept(noon)
  accept(noon + 59_999, 4)
  accept(noon + minuteMs)
  accept(noon, 2, 'b')
  refuse(noon, 'invalid_request')
  t.same(shown(counts.unreported()), {
    '0 a accepted': 5,
    '0 a invalid_request': 1,
    '0 b accepted': 2,
    '1 a accepted': 1,
  })
})

t.test('a report is repeated until it is confirmed, with what came meanwhile', async (t) => {
  const { counts, accept, confirm } = build()
  accept(noon)
  const sent = counts.unreported()
  accept(noon)
  confirm(sent)
  const next = counts.unreported()
  t.same(shown(next), { '0 a accepted': 2 }, 'cumulative')
  t.same(shown([...next, ...sent]), { '0 a accepted': 2 }, 'in any order')
  confirm(next)
  confirm(sent)
  t.same(counts.unreported(), [])
})

t.test('a late record of a dropped minute is added to what was reported', async (t) => {
  const { clock, counts, accept, confirm } = build()
  accept(noon, 3)
  const first = counts.unreported()
  confirm(first)
  await clock.advance(600_000)
  accept(noon + 10 * minuteMs)
  accept(noon)
  const second = counts.unreported()
  t.same(shown([...first, ...second]), { '0 a accepted': 4, '10 a accepted': 1 })
  confirm(first)
  t.same(counts.unreported(), second, 'the confirmation of another run confirms nothing')
})

t.test('a minute is kept while it is not confirmed', async (t) => {
  const { clock, counts, accept } = build()
  for (let minute = 0; minute < 100; minute++) {
    accept(noon + minute * minuteMs)
    await clock.advance(minuteMs)
  }
  t.equal(counts.unreported().length, 100)
})

t.test('beyond the limit of counts, records are counted as overflow', async (t) => {
  const { counts, accept, refuse } = build({ countersMax: 2, minutesMax: 10 })
  accept(noon)
  refuse(noon, 'busy')
  accept(noon, 5, 'b')
  refuse(noon, 'busy', 'c')
  accept(noon)
  t.same(shown(counts.unreported()), { '0 a accepted': 2, '0 a busy': 1, '0  overflow': 6 })
})

t.test('beyond the limit of minutes, what the earliest counted becomes overflow', async (t) => {
  const { counts, accept, refuse, confirm } = build({ countersMax: 100, minutesMax: 2 })
  accept(noon, 3)
  const reported = counts.unreported()
  confirm(reported)
  refuse(noon + minuteMs, 'queue_unavailable', '')
  refuse(noon, 'queue_unavailable', '')
  refuse(noon + 2 * minuteMs, 'queue_unavailable', '')
  t.same(shown([...reported, ...counts.unreported()]), {
    '0 a accepted': 3,
    '1  queue_unavailable': 1,
    '2  queue_unavailable': 1,
    '2  overflow': 1,
  })
})

t.test('times that the table cannot take are counted at its bounds', async (t) => {
  const { counts, refuse } = build()
  refuse(0, 'clock_skew')
  refuse(Date.UTC(2500, 0), 'clock_skew')
  const found = counts.unreported().map(({ minuteMs: minute }) => new Date(minute).getUTCFullYear())
  t.same(found, [2020, 2100])
})
