import type { ConformanceCase } from '../conformance-case.ts'
import { tap, type Trial } from '../trial.ts'
import type { Fault } from '@intake/sandbox'

/**
 * A case in which the first `times` requests have the fault. The event must still be stored exactly
 * once.
 */
function survives(title: string, fault: Fault, options: { times: number }): ConformanceCase {
  const { times } = options
  return {
    title,
    async run(trial) {
      await trial.start()
      trial.fault({ ...fault, times })
      const id = await trial.sender.log(tap, { n: 1 })
      await trial.drainLogs(1)
      await trial.settle()
      expectOneRecord(trial, id, times + 1)
    },
  }
}

function expectOneRecord(trial: Trial, id: string, attemptsMin: number): void {
  const { attempts, attemptsOf, records, expect } = trial
  const sent = attemptsOf(1).map(({ events }) => events.find(({ params }) => params['n'] === 1)?.id)
  // Attempts without an event count too: when a connection is reset, perhaps only the header of the
  // request has arrived.
  expect(attempts().length >= attemptsMin, () => `${attempts().length} attempts`)
  expect(new Set(sent).size === 1, () => `sent under ${[...new Set(sent)].join(', ')}`)
  expect(records().length === 1, () => `${records().length} records`)
  expect(records()[0]?.id === id, () => `stored under ${records()[0]?.id}, not ${id}`)
}

/** The milliseconds from the first response to the next request, whichever events it contains. */
function firstPause({ attempts }: Trial): number {
  const [first, second] = attempts()
  return (second?.seen.startedAt ?? 0) - (first?.seen.endedAt ?? 0)
}

/** A timer may fire a little early. A pause may therefore be this much shorter than required. */
const timerMs = 10

function obeysRetryAfter(
  title: string,
  refusal: Pick<Fault, 'status' | 'code'>,
  seconds: number,
): ConformanceCase {
  return {
    title,
    async run(trial) {
      const { start, fault, sender, drainLogs, expect } = trial
      await start()
      fault({ ...refusal, retryAfter: seconds })
      await sender.log(tap, { n: 1 })
      await drainLogs(1)
      const pauseMs = firstPause(trial)
      expect(
        pauseMs >= seconds * 1_000 - timerMs,
        () => `the next request came ${Math.round(pauseMs)} ms after Retry-After: ${seconds}`,
      )
    },
  }
}

export const retries: ConformanceCase[] = [
  survives('keeps the id over a retry', { status: 503, retryAfter: 0 }, { times: 2 }),
  survives('tries again after 408', { status: 408, retryAfter: 0 }, { times: 2 }),
  survives('tries again after 429', { status: 429, retryAfter: 0 }, { times: 2 }),
  survives('tries again after 500', { status: 500 }, { times: 1 }),
  survives('tries again after 502', { status: 502 }, { times: 2 }),
  survives('tries again after 504', { status: 504 }, { times: 2 }),
  survives(
    'tries again after a 503 whose code it does not know',
    { status: 503, code: 'quota_of_tomorrow', retryAfter: 0 },
    { times: 2 },
  ),
  survives('drops nothing for a 5xx that it does not know', { status: 520 }, { times: 2 }),
  survives(
    'takes the page of a hotel, with status 200, for no answer',
    { status: 200 },
    { times: 2 },
  ),
  survives(
    'survives a Retry-After that it cannot read',
    { status: 503, retryAfter: 'soon' },
    { times: 2 },
  ),
  survives('tries again after a reset connection', { resetAfterBytes: 0 }, { times: 2 }),
  survives(
    'makes one record of an event whose answer was lost',
    { loseResponse: true },
    { times: 2 },
  ),
  survives('takes half an answer for none', { cutResponse: true }, { times: 2 }),
  survives(
    'makes one record of an event after outcome_unknown',
    { status: 503, code: 'outcome_unknown', store: true, retryAfter: 0 },
    { times: 2 },
  ),
  survives(
    'makes one record of an event that got 502 though it was stored',
    { status: 502, store: true },
    { times: 2 },
  ),
  survives('never gives up on an outage', { status: 503, retryAfter: 0 }, { times: 15 }),
  survives('never drops for network errors', { resetAfterBytes: 0 }, { times: 15 }),
  obeysRetryAfter('obeys Retry-After', { status: 503 }, 2),
  obeysRetryAfter('obeys the Retry-After of a rate limit', { status: 429 }, 1),
  obeysRetryAfter(
    'waits as long as a used up budget says',
    { status: 429, code: 'budget_exhausted' },
    1,
  ),
  obeysRetryAfter(
    'sends again after Retry-After, without a restart, when its key was suspended',
    { status: 403, code: 'key_suspended' },
    2,
  ),
  {
    title: 'lets no new event pass a Retry-After',
    async run(trial) {
      const { start, fault, sender, drain, drainLogs, attempts, expect } = trial
      await start()
      fault({ status: 503, retryAfter: 2 })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attempts()[0]?.seen.endedAt !== undefined)
      await sender.log(tap, { n: 2 })
      await drainLogs(2)
      const pauseMs = firstPause(trial)
      expect(
        pauseMs >= 2_000 - timerMs,
        () => `the next request came ${Math.round(pauseMs)} ms after Retry-After: 2`,
      )
    },
  },
  {
    title: 'sends the same ids and bytes on every retry, whatever was logged meanwhile',
    async run({ start, fault, sender, beginFlush, until, drainLogs, attempts, expect }) {
      await start()
      fault({ status: 503, retryAfter: 1, times: 2 })
      for (let n = 0; n < 10; n++) await sender.log(tap, { n })
      beginFlush()
      for (const round of [1, 2]) {
        await until(
          `attempt ${round} ends`,
          () => attempts()[round - 1]?.seen.endedAt !== undefined,
        )
        await sender.log(tap, { n: 10 + round })
      }
      await drainLogs(12)
      const bodies = new Map<string, Buffer>()
      for (const { events, body } of attempts()) {
        for (const { id = '' } of events) {
          const earlier = bodies.get(id) ?? body
          expect(earlier.equals(body), () => `${id} was sent again in another body`)
          bodies.set(id, body)
        }
      }
    },
  },
  {
    title: 'tries again after a connection that was reset in the middle of a body',
    async run({ start, fault, sender, drainLogs, records, expect }) {
      await start()
      fault({ resetAfterBytes: 10_000, times: 2 })
      const words = Array.from({ length: 80 }, () => Math.random().toString(36)).join(' ')
      for (let n = 0; n < 50; n++) await sender.log(tap, { n, words: `${n} ${words}` })
      await drainLogs(50)
      expect(records().length === 50, () => `${records().length} records`)
    },
  },
  {
    title: 'retries a 500 at most three times',
    async run({ start, fault, sender, drain, stored, attemptsOf, expect }) {
      await start()
      fault({ status: 500, times: 4 })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attemptsOf(1)[0]?.seen.endedAt !== undefined)
      for (const n of [2, 3]) {
        await sender.log(tap, { n })
        await drain(`event ${n} is stored`, () => stored(n).length === 1)
      }
      expect(attemptsOf(1).length <= 4, () => `${attemptsOf(1).length} attempts`)
    },
  },
  {
    title: 'sets a batch aside that gets 500 again and again, and sends the next ones',
    async run({ start, fault, sender, drain, stored, attemptsOf }) {
      await start()
      fault({ status: 500, times: 3 })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attemptsOf(1)[0]?.seen.endedAt !== undefined)
      await sender.log(tap, { n: 2 })
      await drain('the event behind it is stored', () => stored(2).length === 1)
    },
  },
]
