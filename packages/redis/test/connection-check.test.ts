import t from 'tap'
import { whileConnected } from '../src/index.ts'

t.test('no command is kept while there is no connection', async (t) => {
  const redis: { status: 'ready' | 'reconnecting' } = { status: 'reconnecting' }
  const sent: number[] = []
  const send = whileConnected(redis, async (n: number) => void sent.push(n))
  await t.rejects(send(1), { message: 'not connected to Redis' })
  redis.status = 'ready'
  await send(2)
  t.same(sent, [2])
})
