import t from 'tap'
import { createTally } from '../load/tally.ts'
import { visibleAfter } from '../visibility.ts'

const id = (last: number) => `00000000-0000-7000-8000-00000000000${last}`
const answer = (status: number, body: object) => ({
  status,
  body: Buffer.from(JSON.stringify(body)),
})

t.test('only acknowledged events count, each by its own id', async (t) => {
  const tally = createTally({ keepAckTimes: true, eventsPerRequest: 1 })
  tally.settled(answer(201, { message: 'ok', id: id(1) }), 3)
  tally.settled(answer(503, { code: 'queue_full', request_id: id(9) }), 1)
  tally.failed(new Error('reset'))
  tally.settled(answer(201, { message: 'ok', id: id(2) }), 5)
  const { acknowledged, failures, latencyMs, requests, ackTimes } = tally.result(1)
  t.match(acknowledged, { count: 2, distinct: 2 })
  t.same(failures, { '503 queue_full': 1, reset: 1 })
  t.match(latencyMs, { count: 2, p50: 4, max: 5 })
  t.equal(requests, 4)
  t.equal(ackTimes.length, 2)
})

t.test('a batch with an event that was not acknowledged is a failure', async (t) => {
  const tally = createTally({ keepAckTimes: false, eventsPerRequest: 2 })
  const accepted = (last: number) => ({ status: 'accepted', id: id(last) })
  tally.settled(answer(207, { results: [accepted(1), accepted(2)] }), 1)
  tally.settled(answer(207, { results: [accepted(3), { status: 'rejected', code: 'x' }] }), 1)
  const { acknowledged, failures } = tally.result(1)
  t.match(acknowledged, { count: 3, distinct: 3 })
  t.same(failures, { '207 with 1 events not acknowledged': 1 })
})

t.test('the n-th acknowledgement is visible when n rows are readable', async (t) => {
  const samples = [
    { at: 100, rows: 0 },
    { at: 120, rows: 2 },
    { at: 150, rows: 3 },
  ]
  t.same(visibleAfter([90, 95, 130], samples), [30, 25, 20])
  t.ok(Number.isNaN(visibleAfter([90, 95, 130, 140], samples)[3]), 'NaN if never visible')
})
