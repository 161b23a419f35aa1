import type { ConformanceCase } from '../conformance-case.ts'
import { day, tap, type Trial } from '../trial.ts'

/**
 * When a page closes, browsers send at most this many bytes, counted over all its last requests.
 */
const pageEndBytesMax = 64 * 1024
const clockErrorMs = 5_000

/**
 * Logs event `n`. Resolves to the difference in milliseconds between the stored time of the event
 * and the server's time when it was logged.
 */
async function clockError(trial: Trial, n: number): Promise<number> {
  const { sender, drain, stored, sandbox } = trial
  const before = sandbox.now()
  await sender.log(tap, { n })
  const after = sandbox.now()
  await drain(`event ${n} is stored`, () => stored(n).length === 1)
  const timeMs = Date.parse(stored(n)[0]?.time ?? '')
  return Math.max(0, before - timeMs, timeMs - after)
}

/**
 * A case in which the device's clock is wrong from the start, and the first response shows the
 * sender the right time.
 */
function corrects(title: string, offsetMs: number): ConformanceCase {
  return {
    title,
    needs: ['clock'],
    async run(trial) {
      const { start, sender, drain, attempts, expect } = trial
      await start({ clockOffsetMs: offsetMs })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attempts()[0]?.seen.endedAt !== undefined)
      const errorMs = await clockError(trial, 2)
      expect(errorMs < clockErrorMs, () => `the time of the next event is wrong by ${errorMs} ms`)
    },
  }
}

/** Opts out while events are in the sender's storage and in a request. */
async function optOutWithEvents({ start, block, sender, drain, attempts }: Trial): Promise<void> {
  await start()
  block()
  await sender.logs(tap, 20)
  await drain('an attempt is made', () => attempts().length > 0)
  await sender.optOut()
}

/** Opts in again, and expects that only an event that is logged afterwards is stored. */
async function expectOnlyNew(trial: Trial): Promise<void> {
  const { sender, drain, stored, settle, records, expect } = trial
  await sender.optIn()
  await sender.log('after', { n: 1 })
  await drain('the event after opting in is stored', () => stored(1, 'after').length === 1)
  await settle()
  expect(records().length === 1, () => `${records().length - 1} others are stored`)
}

export const clock: ConformanceCase[] = [
  corrects('corrects a clock that is three days ahead', 3 * day),
  corrects('corrects a clock that is three days behind', -3 * day),
  {
    title: 'corrects nothing any more when its clock has been set right',
    needs: ['clock'],
    async run(trial) {
      const { start, sender, drain, attemptsOf, expect } = trial
      await start({ clockOffsetMs: -3 * day })
      for (const n of [1, 2]) {
        await sender.log(tap, { n })
        await drain(`event ${n} was sent`, () => attemptsOf(n)[0]?.seen.endedAt !== undefined)
        // The first response shows the sender that the device's clock is wrong. The clock is then
        // set right, and the second response shows the sender that its correction is not needed.
        await sender.clock(0)
      }
      const errorMs = await clockError(trial, 3)
      expect(errorMs < clockErrorMs, () => `the time of an event is wrong by ${errorMs} ms`)
    },
  },
  {
    title: 'takes no time from the page of a proxy',
    needs: ['clock'],
    async run({ start, fault, heal, sender, drain, attempts, stored, expect }) {
      await start()
      fault({ clockOffsetMs: -3 * day })
      fault({ status: 502, times: 1_000_000 })
      await sender.log(tap, { n: 1 })
      await drain('the second attempt ends', () => attempts()[1]?.seen.endedAt !== undefined)
      await sender.log(tap, { n: 2 })
      const now = Date.now()
      // A sender that believes the proxy's clock has given event 2 a wrong time. After the restart
      // the sender has forgotten the proxy's clock, but event 2 still has that time.
      await sender.kill()
      fault({ clockOffsetMs: 0 })
      heal()
      await start()
      await drain('the second event is stored', () => stored(2).length === 1)
      const errorMs = Math.abs(now - Date.parse(stored(2)[0]?.time ?? ''))
      expect(errorMs < clockErrorMs, () => `its time is wrong by ${errorMs} ms`)
    },
  },
  {
    title: 'is not stopped by an event that is older than 30 days',
    needs: ['clock'],
    async run(trial) {
      const { start, block, heal, fault, sender, drain, attempts, attemptsOf, stored, expect } =
        trial
      await start()
      block()
      await sender.log(tap, { n: 1 })
      await drain('an attempt is made', () => attempts().length > 0)
      await sender.kill()
      heal()
      fault({ clockOffsetMs: 40 * day })
      await start({ clockOffsetMs: 40 * day })
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      const ids = new Set(attemptsOf(1).flatMap(({ events }) => events.map(({ id }) => id)))
      expect(
        stored(1).length === 0,
        () => `it is stored, after attempts under ${[...ids].join(', ')}`,
      )
    },
  },
]

export const bounds: ConformanceCase[] = [
  {
    title: 'gives way oldest first when its store is full',
    needs: ['bounds'],
    async run({ start, block, heal, sender, drain, settle, attemptsOf, stored, records, expect }) {
      await start({ storageEventsMax: 100, batchEntriesMax: 20 })
      block()
      await sender.logs(tap, 1_000)
      heal()
      await drain('the newest event is stored', () => stored(999).length === 1)
      await settle()
      expect(records().length <= 200, () => `${records().length} events were kept, not about 100`)
      const kept = new Set(records().map(({ params }) => Number(params?.['n'])))
      const gaps = Array.from({ length: 50 }, (_, index) => 950 + index).filter((n) => !kept.has(n))
      expect(gaps.length === 0, () => `events ${gaps.join(', ')} of the last 50 are missing`)
      // A sender may keep an old batch if it has already attempted to send that batch.
      const early = [...kept].filter((n) => n < 800 && attemptsOf(n).length < 2)
      expect(early.length === 0, () => `old events were kept: ${early.slice(0, 10).join(', ')}`)
    },
  },
  {
    title: 'goes on in memory when its storage refuses to write',
    needs: ['storageFull'],
    async run({ start, sender, drainLogs, records, expect }) {
      await start({ storageFull: true })
      await sender.logs(tap, 20)
      await drainLogs(20)
      expect(records().length === 20, () => `${records().length} records`)
    },
  },
]

export const pageEnd: ConformanceCase[] = [
  {
    title: 'loses nothing that was logged before the page closed',
    needs: ['pageEnd'],
    async run({ start, sender, drainLogs, settle, records, expect }) {
      await start()
      for (let n = 0; n < 5; n++) await sender.log(tap, { n })
      await sender.pageEnd()
      await start()
      await drainLogs(5)
      await settle()
      expect(records().length === 5, () => `${records().length} records`)
    },
  },
  {
    title: 'makes one record of what was sent by a closing page, if the answer was lost',
    needs: ['pageEnd'],
    async run({ start, fault, sender, drainLogs, settle, records, expect }) {
      await start()
      fault({ loseResponse: true })
      for (let n = 0; n < 5; n++) await sender.log(tap, { n })
      await sender.pageEnd()
      await start()
      await drainLogs(5)
      await settle()
      expect(records().length === 5, () => `${records().length} records`)
    },
  },
  {
    title: 'sends no more than 64 KiB from a closing page, and the rest at the next visit',
    needs: ['pageEnd'],
    async run({ start, sender, drainLogs, attempts, records, expect }) {
      await start()
      const words = Array.from({ length: 80 }, () => Math.random().toString(36)).join(' ')
      for (let n = 0; n < 150; n++) await sender.log(tap, { n, words: `${n} ${words}` })
      const before = attempts().length
      await sender.pageEnd()
      // Before the next start, because the next visit may send the rest at once.
      const atEnd = attempts().slice(before)
      await start()
      const bytes = atEnd.reduce((sum, attempt) => sum + attempt.bytes, 0)
      expect(bytes <= pageEndBytesMax, () => `${bytes} bytes in ${atEnd.length} requests`)
      await drainLogs(150)
      expect(records().length === 150, () => `${records().length} records`)
    },
  },
]

export const optOut: ConformanceCase[] = [
  {
    title: 'empties its store when the user opts out',
    needs: ['optOut'],
    async run(trial) {
      await optOutWithEvents(trial)
      trial.heal()
      await expectOnlyNew(trial)
    },
  },
  {
    title: 'logs nothing while the user has opted out',
    needs: ['optOut'],
    async run(trial) {
      await trial.start()
      await trial.sender.optOut()
      await trial.sender.logs(tap, 3)
      await trial.sender.flush(500)
      await expectOnlyNew(trial)
    },
  },
  {
    title: 'remembers over a restart that the user has opted out',
    needs: ['optOut'],
    async run(trial) {
      await optOutWithEvents(trial)
      await trial.sender.kill()
      trial.heal()
      await trial.start()
      await trial.sender.logs(tap, 3)
      await trial.sender.flush(500)
      await expectOnlyNew(trial)
    },
  },
]
