import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import type { Reservation } from '@intake/identity'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createFairReservations } from '../../src/identity/fair-reservations.ts'

const reservationOf = (apiKeyId: string, n: number): Reservation => ({
  scope: 'logs',
  apiKeyId,
  bundleIdentifier: 'com.example.app',
  deviceUuid: 'a',
  key: `${apiKeyId}-${n}`,
  id: String(n),
  fingerprint: '',
})

/** A store on a Redis that replies only when told to, to the commands in their order. */
function createSlowStore() {
  const clock = createTestClock()
  const commands: { apiKeyId: string; reply: () => void }[] = []
  const store = createFairReservations(
    {
      reserve: ({ apiKeyId, id }) =>
        new Promise((resolve) => commands.push({ apiKeyId, reply: () => resolve(id) })),
    },
    clock,
  )
  const reply = (count: number) => {
    for (const command of commands.splice(0, count)) command.reply()
    return turnOfTheLoop()
  }
  const reserve = (apiKeyId: string, count: number, deadline = 10_000) =>
    Promise.allSettled(
      Array.from({ length: count }, (_, n) => store.reserve(reservationOf(apiKeyId, n), deadline)),
    )
  return { clock, commands, reply, reserve }
}

t.test('a key with many reservations delays another key by two batches at most', async (t) => {
  const { commands, reply, reserve } = createSlowStore()
  const flood = reserve('flood', 4_000)
  const other = reserve('other', 2)
  t.equal(commands.length, 1_000)
  await reply(1_000)
  const [first, second, third] = commands.map(({ apiKeyId }) => apiKeyId)
  t.same([first, second, third], ['flood', 'other', 'flood'], 'the keys take turns')
  while (commands.length > 0) await reply(1_000)
  for (const result of [...(await flood), ...(await other)]) {
    if (result.status === 'rejected') t.fail(String(result.reason))
  }
})

t.test('who waits beyond the deadline is refused, and takes no later turn', async (t) => {
  const { clock, commands, reply, reserve } = createSlowStore()
  const begun = reserve('one', 1_000, 20_000)
  const late = reserve('one', 5, 10_000)
  const patient = reserve('two', 1, 20_000)
  await clock.advance(10_000)
  for (const result of await late) {
    t.match(result, { status: 'rejected', reason: { code: 'queue_unavailable' } })
  }
  await reply(1)
  t.equal(commands.at(-1)?.apiKeyId, 'two')
  await reply(1_000)
  await Promise.all([begun, patient])
  void reserve('one', 1_001, 20_000)
  t.equal(commands.length, 1_000, 'all places are free again')
})
