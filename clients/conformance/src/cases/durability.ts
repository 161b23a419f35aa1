import type { ConformanceCase } from '../conformance-case.ts'
import { day, tap, type Trial } from '../trial.ts'

/** The ids under which an event was sent. */
const idsOf = ({ attemptsOf }: Trial, n: number): string[] => [
  ...new Set(
    attemptsOf(n).flatMap(({ events }) =>
      events.filter(({ params }) => params['n'] === n).map(({ id }) => id ?? 'none'),
    ),
  ),
]

/** Loses the response to a stored event, and kills the sender while it waits for that response. */
async function killDuringRequest(trial: Trial): Promise<void> {
  const { fault, sender, beginFlush, until, attempts } = trial
  fault({ loseResponse: true, delayMs: 25_000 })
  await sender.log(tap, { n: 1 })
  beginFlush()
  await until('the server has stored the event', () => attempts()[0]?.seen.decided !== undefined)
  await sender.kill()
}

export const durability: ConformanceCase[] = [
  {
    title: 'keeps over a kill what was logged and never sent',
    async run({ start, sender, drainLogs, records, expect }) {
      await start()
      const ids: string[] = []
      for (let n = 0; n < 3; n++) ids.push(await sender.log(tap, { n }))
      await sender.kill()
      await start()
      await drainLogs(3)
      const stored = records().map(({ id }) => id)
      expect(
        ids.every((id) => stored.includes(id)),
        () => `logged ${ids.join(', ')}, stored ${stored.join(', ')}`,
      )
    },
  },
  {
    title: 'keeps everything over a kill while the server cannot be reached',
    async run({ start, block, heal, sender, drain, drainLogs, attempts, records, expect }) {
      await start()
      block()
      await sender.logs(tap, 50)
      await drain('an attempt is made', () => attempts().length > 0)
      await sender.kill()
      heal()
      await start()
      await drainLogs(50)
      expect(records().length === 50, () => `${records().length} records`)
    },
  },
  {
    title: 'deletes an event only after the definite answer',
    async run({ start, block, heal, sender, beginFlush, until, drainLogs, attempts }) {
      await start()
      block()
      await sender.log(tap, { n: 1 })
      beginFlush()
      await until('the server has seen the event', () => attempts().length > 0)
      await sender.kill()
      heal()
      await start()
      await drainLogs(1)
    },
  },
  {
    title: 'sends again after a kill what had no answer, and it is one record',
    async run(trial) {
      const { start, drain, settle, records, attemptsOf, expect } = trial
      await start()
      await killDuringRequest(trial)
      await start()
      await drain('it is sent again', () => attemptsOf(1).length > 1)
      await settle()
      expect(records().length === 1, () => `${records().length} records`)
    },
  },
  {
    title: 'does not send again after a kill what was accepted',
    async run({ start, sender, drain, drainLogs, settle, stored, attemptsOf, expect }) {
      await start()
      await sender.log(tap, { n: 1 })
      await drainLogs(1)
      await settle()
      await sender.kill()
      await start()
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      expect(attemptsOf(1).length === 1, () => `it was sent ${attemptsOf(1).length} times`)
    },
  },
  {
    title: 'marks a batch as attempted before the request, so that it remembers after a kill',
    async run(trial) {
      const { start, fault, sender, drain, stored, expect } = trial
      await start()
      await killDuringRequest(trial)
      // Sets the server's clock back by three days, so that the id of event 1 is refused as out of
      // range. A sender that then gave the event a new id would create a second record.
      fault({ clockOffsetMs: -3 * day })
      await start()
      await sender.flush(1_000)
      fault({ clockOffsetMs: 0 })
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      expect(idsOf(trial, 1).length === 1, () => `sent under ${idsOf(trial, 1).join(', ')}`)
    },
  },
  {
    title: 're-identifies only what was never attempted',
    async run(trial) {
      const { start, fault, heal, sender, drain, settle, stored, attemptsOf, expect } = trial
      await start()
      // Loses every response until the server's clock is wrong. Otherwise the sender would learn
      // the right time from an earlier response.
      fault({ loseResponse: true, times: 1_000 })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attemptsOf(1)[0]?.seen.endedAt !== undefined)
      fault({ clockOffsetMs: -3 * day })
      heal()
      await sender.log(tap, { n: 2 })
      await sender.flush(1_000)
      fault({ clockOffsetMs: 0 })
      await sender.log(tap, { n: 3 })
      await drain('the last event is stored', () => stored(3).length === 1)
      await settle()
      expect(idsOf(trial, 1).length === 1, () => `sent under ${idsOf(trial, 1).join(', ')}`)
      expect(stored(1).length === 1, () => `${stored(1).length} records`)
    },
  },
  {
    title: 'delivers 2,000 events once each over lost answers and five kills',
    async run({
      start,
      fault,
      heal,
      sender,
      beginFlush,
      drain,
      until,
      drainLogs,
      attempts,
      records,
      expect,
    }) {
      fault({ loseResponse: true, every: 3, times: 1_000 })
      for (let round = 0; round < 5; round++) {
        await start()
        await sender.logs(`round-${round}`, 400)
        const before = attempts().length
        if (round % 2 === 0) beginFlush()
        else await drain('a request ends', () => attempts()[before]?.seen.endedAt !== undefined)
        await until('a request has begun', () => attempts().length > before)
        await sender.kill()
      }
      heal()
      await start()
      await drainLogs(2_000)
      expect(records().length === 2_000, () => `${records().length} records`)
    },
  },
  {
    title: 'ends a flush in time while nothing answers',
    async run({ start, fault, sender, until, attempts, expect }) {
      await start()
      fault({ delayMs: 25_000, times: 1_000 })
      await sender.log(tap, { n: 1 })
      const begun = performance.now()
      await sender.flush(500)
      const ms = performance.now() - begun
      expect(ms < 15_000, () => `a flush of 500 ms took ${Math.round(ms)} ms`)
      // On a busy machine, connecting may take longer than the flush. The case therefore waits
      // until a request has begun.
      await until('a request has begun', () => attempts().length > 0)
    },
  },
  {
    title: 'says that nothing is left only when the server has everything',
    async run({ start, fault, sender, settle, records, expect }) {
      await start()
      fault({ status: 503, retryAfter: 0, times: 2 })
      fault({ resetAfterBytes: 0, times: 2 })
      fault({ loseResponse: true, times: 2 })
      await sender.logs(tap, 20)
      await settle()
      expect(
        records().length === 20,
        () => `nothing was left with ${records().length} of 20 stored`,
      )
    },
  },
]
