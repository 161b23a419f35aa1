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

t.test(
  'idle connections of a key that has many are evicted before others and before new ones',
  async (t) => {
    const order = createEvictionOrder()
    const innocent = connection('innocent')
    const greedy = [connection('greedy'), connection('greedy')]
    for (const one of [innocent, ...greedy]) order.rest(one)
    const fresh = connection()
    order.touch(fresh)
    t.equal(order.next(), greedy[0])
    order.touch(connection())
    t.equal(order.next(), fresh, 'not when as many connections have no key')
  },
)

t.test('a connection that had time to send a key and has not is evicted first', async (t) => {
  const order = createEvictionOrder()
  for (let n = 0; n < 9; n++) order.rest(connection('fleet'))
  const silent = connection(undefined, 2)
  order.touch(silent)
  t.equal(order.next(), silent)
})

t.test('the order is that of a list, whichever connection leaves it', async (t) => {
  const order = createEvictionOrder()
  const all = Array.from({ length: 6 }, () => connection('key'))
  for (const one of all) order.rest(one)
  order.rest(all[0]!)
  t.equal(order.next(), all[0], 'a second rest changes nothing')
  const taken = [all[3]!, all[0]!, all[5]!]
  for (const one of taken) order.touch(one)
  const left: Connection[] = []
  for (let one = order.next(); one !== undefined; one = order.next()) {
    left.push(one)
    order.remove(one)
  }
  t.same(
    left.map((one) => all.indexOf(one)),
    [1, 2, 4],
  )
  for (const one of taken) order.rest(one)
  t.equal(order.next(), all[3])
})
