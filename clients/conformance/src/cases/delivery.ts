import { isDeepStrictEqual } from 'node:util'
import { limits, timeOfUuidV7 } from '@intake/contract'
import type { ConformanceCase } from '../conformance-case.ts'
import { tap } from '../trial.ts'

const params = {
  text: 'Grüße, 你好 👋',
  empty: '',
  whole: 42,
  negative: -7,
  fraction: 0.1,
  yes: true,
  no: false,
  list: [1, 2, 3],
  nested: { a: { b: 'c' } },
}
const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

export const delivery: ConformanceCase[] = [
  {
    title: 'delivers an event once, with what was said of it',
    async run({ start, sender, drainLogs, settle, records, expect }) {
      await start({ userId: 'user-7', bundleIdentifier: 'com.example.seven' })
      const id = await sender.log(tap, { n: 1, screen: 'home' })
      await drainLogs(1)
      await settle()
      const [log] = records()
      const row = [log?.event, log?.params, log?.unique_user_id, log?.bundle_identifier, log?.id]
      const wanted = [tap, { n: 1, screen: 'home' }, 'user-7', 'com.example.seven', id]
      expect(isDeepStrictEqual(row, wanted), () => `stored ${JSON.stringify(row)}`)
      expect(log?.times_accepted === 1, () => `accepted ${log?.times_accepted} times`)
    },
  },
  {
    title: 'makes no request before there is an event',
    async run({ start, sender, drainLogs, attempts, expect }) {
      await start()
      await sender.log(tap, { n: 1 })
      await drainLogs(1)
      const idle = attempts().find(({ events }) => events.length === 0)
      expect(idle === undefined, () => `${idle?.seen.method} ${idle?.seen.url} holds no event`)
    },
  },
  {
    title: 'keeps the values and types of params',
    async run({ start, sender, drainLogs, records, expect }) {
      await start()
      await sender.log(tap, { n: 1, ...params })
      await drainLogs(1)
      const stored = records()[0]?.params
      expect(
        isDeepStrictEqual(stored, { n: 1, ...params }),
        () => `stored ${JSON.stringify(stored)}`,
      )
    },
  },
  {
    title: 'gives an event a UUIDv7 of the moment it happened',
    async run({ start, sender, drainLogs, records, expect }) {
      await start()
      const before = Date.now()
      const id = await sender.log(tap, { n: 1 })
      const after = Date.now()
      expect(uuidV7.test(id), () => `the id is ${id}`)
      const timeMs = timeOfUuidV7(id)
      expect(timeMs >= before - 2 && timeMs <= after + 2, () => {
        return `its time is ${timeMs - before} ms after the call began, which took ${after - before} ms`
      })
      await drainLogs(1)
      expect(records()[0]?.id === id, () => `stored under ${records()[0]?.id}, not ${id}`)
    },
  },
  {
    title: 'gives 300 events 300 ids, whose order is theirs',
    async run({ start, sender, drainLogs, records, expect }) {
      await start()
      await sender.logs(tap, 300)
      await drainLogs(300)
      const logs = records('log').toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const wrong = logs.findIndex((log, n) => log.params?.['n'] !== n)
      expect(logs.length === 300, () => `${logs.length} records`)
      expect(
        wrong === -1,
        () => `by their ids, event ${String(logs[wrong]?.params?.['n'])} is number ${wrong}`,
      )
    },
  },
  {
    title: 'sends by itself when its interval has passed',
    async run({ start, sender, until, stored }) {
      await start({ flushIntervalMs: 100 })
      await sender.log(tap, { n: 1 })
      await until('the event is stored', () => stored(1).length === 1)
      await sender.log(tap, { n: 2 })
      await until('the next event is stored', () => stored(2).length === 1)
    },
  },
  {
    title: 'attributes an event to the user of its moment',
    async run({ start, sender, block, heal, drainLogs, stored, expect }) {
      await start({ userId: 'user-1' })
      block()
      await sender.log(tap, { n: 1 })
      await sender.kill()
      heal()
      await start({ userId: 'user-2' })
      await sender.log(tap, { n: 2 })
      await drainLogs(2)
      const users = [stored(1)[0]?.unique_user_id, stored(2)[0]?.unique_user_id]
      expect(isDeepStrictEqual(users, ['user-1', 'user-2']), () => `stored for ${users.join(', ')}`)
    },
  },
  {
    title: 'sends at most 500 events in a request',
    needs: ['batch'],
    async run({ start, sender, drainLogs, attempts, expect }) {
      await start()
      await sender.logs(tap, 1_200)
      await drainLogs(1_200)
      const most = Math.max(...attempts().map(({ events }) => events.length))
      expect(most <= limits.batchEntries, () => `${most} events in a request`)
    },
  },
  {
    title: 'sends 500 events in at most ten requests',
    needs: ['batch'],
    async run({ start, sender, drainLogs, attempts, expect }) {
      await start()
      await sender.logs(tap, 500)
      await drainLogs(500)
      expect(attempts().length <= 10, () => `${attempts().length} requests`)
    },
  },
  {
    // This case has no check of its own, because `findViolation` checks the size of bodies after
    // every case.
    title: 'sends bodies below 200 KB, however large the events are',
    async run({ start, sender, drainLogs }) {
      await start()
      const text = Array.from({ length: 300 }, (_, n) => `word-${n * 7919}`).join(' ')
      for (let n = 0; n < 150; n++) await sender.log(tap, { n, text: `${n} ${text}` })
      await drainLogs(150)
    },
  },
]
