import { AdapterError } from '../adapter.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { tap } from '../trial.ts'

export const size: ConformanceCase[] = [
  {
    title: 'splits on 413',
    needs: ['batch'],
    async run({ start, fault, sender, drainLogs, settle, attempts, records, expect }) {
      await start()
      fault({ status: 413, times: 2 })
      await sender.logs(tap, 16)
      await drainLogs(16)
      await settle()
      const refused = attempts().slice(0, 2)
      const whole = refused[0]?.events.length ?? 0
      expect(whole > 1, () => `the first request has ${whole} events`)
      for (const { seen, events } of refused) {
        if (seen.status !== 413) continue
        const ids = new Set(events.map(({ id }) => id))
        for (const later of attempts()) {
          const repeated = later.events.filter(({ id }) => ids.has(id)).length
          if (later.seen.startedAt <= seen.startedAt || repeated === 0) continue
          const most = Math.ceil(events.length / 2)
          expect(
            later.events.length <= most,
            () =>
              `after 413 for ${events.length} events, ${later.events.length} were sent together`,
          )
        }
      }
      expect(records().length === 16, () => `${records().length} records`)
    },
  },
  {
    title: 'drops a single event that gets 413, and only that one',
    async run({ start, fault, sender, drain, settle, attemptsOf, stored, expect }) {
      await start()
      fault({ status: 413 })
      await sender.log(tap, { n: 1 })
      await drain('the first attempt ends', () => attemptsOf(1)[0]?.seen.endedAt !== undefined)
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
      await settle()
      expect(attemptsOf(1).length === 1, () => `it was sent ${attemptsOf(1).length} times`)
    },
  },
  {
    title: 'is not stopped by an event that can never be accepted',
    async run({ start, sender, drain, stored, allowLargeBodies }) {
      allowLargeBodies()
      await start()
      // The sender may refuse to log an event of this size. The adapter then responds with an
      // error.
      await sender.log(tap, { n: 1, text: 'x'.repeat(1_500_000) }).catch((error: unknown) => {
        if (!(error instanceof AdapterError) || error.status === undefined) throw error
      })
      await sender.log(tap, { n: 2 })
      await drain('the next event is stored', () => stored(2).length === 1)
    },
  },
]
