import t from 'tap'
import { openRedis } from '@intake/test-kit/open-redis'
import { createTestClock } from '@intake/test-kit/test-clock'
import { ownRedis } from '@intake/test-kit/own-services'
import { createReservationLedger } from '../src/reservation-ledger.ts'

const server = await ownRedis(t)

t.test('a reservation is counted once, although Redis responds after the timeout', async (t) => {
  const clock = createTestClock()
  const redis = openRedis(t, server)
  const ledger = createReservationLedger({
    redis,
    memoryBytes: () => 1_000_000,
    shares: { logs: 0.1, feedback: 0.1 },
    onError: () => {},
    clock,
  })
  t.teardown(() => ledger.close())
  await ledger.refresh()
  ledger.reserved('logs', 'key')
  process.kill(server.pid, 'SIGSTOP')
  t.teardown(() => process.kill(server.pid, 'SIGCONT'))
  const late = t.rejects(ledger.refresh(), { name: 'TimeoutError' })
  await clock.advance(5_000)
  await late
  const again = ledger.refresh()
  process.kill(server.pid, 'SIGCONT')
  await again
  const [key = ''] = await redis.keys('*:reservations:used:logs:*')
  t.equal(await redis.hget(key, 'key'), '1')
  t.equal(ledger.usage('logs').held, 1)
})

t.test('a reservation is counted once, although those of the other kind are not', async (t) => {
  const redis = openRedis(t, server)
  await redis.flushall()
  const begin = redis.multi.bind(redis)
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  let calls = 0
  // Redis refuses the first transaction, and responds late to the second.
  redis.multi = (() => {
    const transaction = begin()
    const exec = transaction.exec.bind(transaction)
    const call = ++calls
    transaction.exec = async () => {
      if (call === 1) throw new Error('refused')
      if (call === 2) await opened
      return exec()
    }
    return transaction
  }) as typeof redis.multi
  const ledger = createReservationLedger({
    redis,
    memoryBytes: () => 1_000_000,
    shares: { logs: 0.1, feedback: 0.1 },
    onError: () => {},
    clock: createTestClock(),
  })
  t.teardown(() => ledger.close())
  await ledger.refresh()
  for (const kind of ['logs', 'feedback'] as const) ledger.reserved(kind, 'key')
  await t.rejects(ledger.refresh(), { message: 'refused' })
  const again = ledger.refresh()
  await redis.ping()
  open()
  await again
  for (const kind of ['logs', 'feedback'] as const) {
    const [key = ''] = await redis.keys(`*:reservations:used:${kind}:*`)
    t.equal(await redis.hget(key, 'key'), '1', kind)
    t.equal(ledger.usage(kind).held, 1, kind)
  }
})
