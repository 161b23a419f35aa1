import { Readable } from 'node:stream'
import t from 'tap'
import { limits } from '@intake/contract'
import { createAdmission, createSkewGauge } from '../../src/admission/admission.ts'
import { batch, send as sendBatch } from '../batches.ts'
import { payloadPart, sendText } from '../forms.ts'
import { logBody, sendLog, soundState, startGateway, type TestGateway } from '../support.ts'

const startMs = Date.UTC(2026, 10, 1)

/**
 * Creates the skew gauge of a gateway. The test sets `at.offMs`: how far the gateway's clock is
 * ahead of Redis's. The gauge tolerates 5 s.
 */
function createGauge(options: { errorMs: number }) {
  const at = { offMs: 0, elapsedMs: 0 }
  const clock = { offsetMs: startMs, errorMs: options.errorMs }
  const clockOf = createSkewGauge({
    wallMs: () => startMs + at.elapsedMs + at.offMs,
    clock: { now: () => at.elapsedMs },
  })
  return { at, clock, skewMs: () => clockOf({ clock }).skewMs }
}

t.test('a clock is skewed beyond the limit, in both directions, but not at it', async (t) => {
  const { at, skewMs } = createGauge({ errorMs: 0 })
  for (const sign of [1, -1]) {
    at.offMs = sign * 5_000
    t.equal(skewMs(), undefined)
    at.offMs = sign * 5_001
    t.equal(skewMs(), at.offMs)
  }
  at.offMs = 0
  t.equal(skewMs(), undefined)
})

t.test('a jump between two readings is noticed, however old the last one is', async (t) => {
  const { at, skewMs } = createGauge({ errorMs: 1 })
  at.elapsedMs = 3_600_000
  t.equal(skewMs(), undefined)
  at.offMs = -10_000
  t.equal(skewMs(), -10_000)
})

t.test('a long round trip neither causes nor ends a skew', async (t) => {
  const { at, clock, skewMs } = createGauge({ errorMs: 2_500 })
  at.offMs = 7_500
  t.equal(skewMs(), undefined, 'it may be 5 s')
  at.offMs = 7_501
  t.equal(skewMs(), 7_501)
  at.offMs = 2_501
  t.equal(skewMs(), 2_501, 'it may still be more than 5 s')
  clock.errorMs = 1
  t.equal(skewMs(), undefined)
})

/** Creates an admission by the gateway's clock, whose time is in `at`, and by that of Redis. */
function admissionAt(at: { nowMs: number }, redisMs = () => at.nowMs) {
  return createAdmission({
    state: () => ({
      ...soundState,
      clock: { offsetMs: redisMs() - performance.now(), errorMs: 0 },
    }),
    isStrict: true,
    wallMs: () => at.nowMs,
  })
}

t.test('the reason names the distance and the direction', async (t) => {
  const at = { nowMs: startMs + 3_600_000 }
  const admission = admissionAt(at, () => startMs)
  const ahead = 'the clock of this gateway is 3600 s ahead of that of Redis'
  t.equal(admission.clockSkew(), ahead)
  t.same(admission.redisProblems(), {})
  t.throws(() => admission.now(), { code: 'clock_skew' })
  at.nowMs = startMs - 10_000
  t.equal(admission.clockSkew(), 'the clock of this gateway is 10 s behind that of Redis')
  at.nowMs = startMs
  t.equal(admission.clockSkew(), undefined)
  t.equal(admission.now(), startMs)
})

t.test('a time that the tables reject counts as skewed, even if Redis has it, too', async (t) => {
  const { recordTimeMs, eventAgeMs, eventAheadMs } = limits
  const at = { nowMs: 0 }
  const admission = admissionAt(at)
  // An event may have a time from 30 days before to 10 minutes after the gateway's clock.
  const first = recordTimeMs.after + eventAgeMs + 1
  const last = recordTimeMs.before - eventAheadMs - 1
  for (at.nowMs of [0, first - 1, last + 1, 10 ** 14]) {
    t.throws(() => admission.now(), { code: 'clock_skew' }, new Date(at.nowMs).toISOString())
  }
  for (at.nowMs of [first, last]) {
    t.equal(admission.now(), at.nowMs)
    t.equal(admission.clockSkew(), undefined)
  }
  at.nowMs = 0
  const reason = 'the clock of this gateway says 1970-01-01T00:00:00.000Z, which no record can have'
  t.equal(admission.clockSkew(), reason)
})

/** Returns the state of a Redis whose clock is `offMs` ahead of the gateway's. */
const clockOff = (offMs: number) => ({
  clock: { offsetMs: Date.now() + offMs - performance.now(), errorMs: 1 },
})

const sendAll = (gateway: TestGateway) =>
  Promise.all([
    sendLog(gateway),
    sendBatch(gateway, batch([{ event: 'a' }])),
    sendText(gateway, `--x\r\n${payloadPart}--x--\r\n`),
  ])

t.test('503 clock_skew for every write while the clock is wrong; nothing is stored', async (t) => {
  const year = 365 * 24 * 3_600_000
  const gateway = await startGateway(t, { queueState: clockOff(10_000) })
  for (const offMs of [10_000, -10_000, 3_600_000, -3_600_000, 10 * year, -10 * year]) {
    Object.assign(gateway.state, clockOff(offMs))
    for (const response of await sendAll(gateway)) {
      t.match(response.json(), { status: 503, code: 'clock_skew' }, `${offMs} ms`)
      t.ok(response.headers['retry-after'])
    }
  }
  t.same(gateway.frames, { logs: [], feedback: [] })
  Object.assign(gateway.state, clockOff(4_000))
  for (const response of await sendAll(gateway)) t.match(String(response.statusCode), /^20[17]$/)
})

t.test('503 when the clock jumps while the body arrives', async (t) => {
  const { app, state, frames } = await startGateway(t)
  const body = JSON.stringify(logBody())
  const payload = Readable.from(
    (async function* () {
      yield body.slice(0, 10)
      Object.assign(state, clockOff(3_600_000))
      yield body.slice(10)
    })(),
  )
  const response = await sendLog({ app }, payload)
  t.match(response.json(), { status: 503, code: 'clock_skew' })
  t.same(frames.logs, [])
})

t.test('401, not clock_skew, without a key', async (t) => {
  const { app } = await startGateway(t, { queueState: clockOff(10_000) })
  const response = await app.inject({ method: 'POST', url: '/api/log', payload: logBody() })
  t.match(response.json(), { status: 401, code: 'unauthorized' })
})
