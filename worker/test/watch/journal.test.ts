import t from 'tap'
import { createWaitingEntries } from '@intake/access'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTestClock } from '@intake/test-kit/test-clock'
import { startJournal } from '../../src/watch/journal.ts'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { gunzipSync } from 'node:zlib'

const redis = openRedis(t, await ownRedis(t))
const waiting = createWaitingEntries({ redis })
const add = (subject: string) =>
  waiting.add({ who: 'ana', action: 'queue-paused', subject, detail: {} })

/** A table that keeps each row once per id, and refuses while it is away. */
function createTable() {
  const table = {
    isAway: false,
    rows: new Map<string, string>(),
    insertRows: async ({ members }: { members: readonly Uint8Array[] }) => {
      if (table.isAway) throw new Error('away')
      const lines = members.map((member) => gunzipSync(member).toString()).join('')
      for (const line of lines.trimEnd().split('\n')) {
        const { id, subject } = JSON.parse(line) as { id: string; subject: string }
        table.rows.set(id, subject)
      }
    },
  }
  return table
}

t.test('entries are moved in order once ClickHouse is back, by all workers', async (t) => {
  const clock = createTestClock()
  const store = createTable()
  store.isAway = true
  let failures = 0
  const onError = () => void failures++
  const workers = [1, 2].map(() =>
    startJournal({ redis, store, isConfirmed: () => true, onError, clock }),
  )
  t.teardown(() => workers.forEach((worker) => worker.close()))
  for (let n = 0; n < 450; n++) await add(`${n}`)
  await until('the workers try', async () => (await clock.advance(5_000), failures >= 2))
  t.equal((await waiting.peek(1_000)).length, 450)
  store.isAway = false
  await until('all are moved', async () => {
    await clock.advance(5_000)
    return (await waiting.peek(1)).length === 0
  })
  t.same(
    [...store.rows.values()],
    Array.from({ length: 450 }, (_, n) => `${n}`),
  )
})

t.test('nothing is moved while Redis may belong to another installation', async (t) => {
  const clock = createTestClock()
  const store = createTable()
  let isConfirmed = false
  const journal = startJournal({
    redis,
    store,
    isConfirmed: () => isConfirmed,
    onError: () => void t.fail('it moves'),
    clock,
  })
  t.teardown(() => journal.close())
  await add('one')
  await clock.advance(20_000)
  t.equal((await waiting.peek(10)).length, 1)
  isConfirmed = true
  await until('it is moved', async () => {
    await clock.advance(5_000)
    // Once the row is stored, the entry is still to be removed: the next test must not begin before.
    return store.rows.size === 1 && (await waiting.peek(1)).length === 0
  })
})

t.test('only rows that were read are removed', async (t) => {
  await redis.flushall()
  for (const subject of ['one', 'two', 'three']) await add(subject)
  const [one, two] = await waiting.peek(2)
  await waiting.remove([one!, two!])
  await waiting.remove([one!, two!])
  t.match(await waiting.peek(10), [/three/])
})
