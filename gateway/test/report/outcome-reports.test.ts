import t from 'tap'
import { IntakeError } from '@intake/contract'
import type { NewFrame } from '@intake/queue'
import { createTestClock } from '@intake/test-kit/test-clock'
import { OutcomeCounts } from '../../src/report/outcome-counts.ts'
import { startOutcomeReports } from '../../src/report/outcome-reports.ts'
import { linesOf } from '../support.ts'

const noon = Date.UTC(2026, 10, 23, 12)

function build() {
  const clock = createTestClock()
  const counts = new OutcomeCounts({ clock })
  const frames: Record<string, unknown>[][] = []
  const errors: unknown[] = []
  const lost: number[] = []
  const fail: { with?: Error | undefined } = {}
  const reports = startOutcomeReports({
    counts,
    producer: {
      async add(frame: NewFrame) {
        if (fail.with !== undefined) throw fail.with
        const lines = linesOf(frame)
        t.equal(lines.length, frame.rows)
        frames.push(lines.map((line) => JSON.parse(line) as Record<string, unknown>))
      },
    },
    onError: (error) => errors.push(error),
    onLost: (_error, records) => lost.push(records),
    clock,
  })
  t.teardown(() => reports.close())
  const accept = (apiKeyId = 'a') =>
    counts.count({ apiKeyId, kind: 'logs', code: 'accepted', atMs: noon, records: 1 })
  return { clock, reports, frames, errors, lost, fail, accept }
}

t.test('a report is a frame of rows; nothing is sent while nothing changes', async (t) => {
  const { clock, frames, accept } = build()
  accept()
  await clock.advance(60_000)
  t.match(frames, [
    [
      {
        minute: '2026-11-23T12:00:00.000Z',
        api_key_id: 'a',
        kind: 'logs',
        code: 'accepted',
        run: /^[\da-f-]{36}$/,
        records: 1,
      },
    ],
  ])
  t.equal(frames.length, 1)
})

t.test('what Redis does not confirm is sent again', async (t) => {
  const { clock, frames, errors, fail, accept } = build()
  const error = new IntakeError('outcome_unknown', 'no response')
  fail.with = error
  accept()
  await clock.advance(30_000)
  t.ok(errors.length > 1)
  t.equal(errors[0], error)
  accept()
  fail.with = undefined
  await clock.advance(30_000)
  t.match(frames, [[{ records: 2 }]])
})

t.test('closing sends the rest', async (t) => {
  const { clock, reports, frames, accept } = build()
  await clock.advance(1_000)
  accept()
  await reports.close()
  t.match(frames, [[{ records: 1 }]])
})

t.test('what cannot be sent at the end is reported as lost', async (t) => {
  const { clock, reports, lost, fail, accept } = build()
  await clock.advance(1_000)
  accept()
  accept('b')
  fail.with = new IntakeError('queue_unavailable', 'no Redis')
  await reports.close()
  t.same(lost, [2])
})

t.test('many counts are sent in several frames', async (t) => {
  const { clock, frames, accept } = build()
  for (let n = 0; n < 2_500; n++) accept(`key-${n}`)
  await clock.advance(20_000)
  const lengths = frames.map((rows) => rows.length)
  t.same(lengths, [1_000, 1_000, 500])
})
