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
