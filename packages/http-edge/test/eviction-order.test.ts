import { Socket } from 'node:net'
import t from 'tap'
import { createEvictionOrder, nowhere } from '../src/eviction-order.ts'
import type { Connection } from '../src/exchange.ts'

const connection = (apiKeyId?: string, sweeps = 0): Connection => ({
  socket: new Socket(),
  apiKeyId,
  sweeps,
  exchanges: [],
  turn: -1,
  begunInTurn: 0,
  isEnding: false,
  isBroken: false,
  unwanted: undefined,
  place: nowhere(),
  makeEvictable: () => {},
})

t.test('idle connections of a key that has many are evicted first', async (t) => {
  const order = createEvictionOrder()
  const innocent = connection('innocent')
  const greedy = [connection('greedy'), connection('greedy')]
  for (const one of [innocent, ...greedy]) order.rest(one)
  const fresh = connection()
  order.touch(fresh)
  t.equal(order.next(), greedy[0])
  order.touch(connection())
  t.equal(order.next(), fresh, 'not when as many connections have no key')
})
