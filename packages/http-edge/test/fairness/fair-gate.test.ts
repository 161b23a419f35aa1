import type { IncomingMessage } from 'node:http'
import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { createFairGate } from '../../src/fairness/fair-gate.ts'

/** Creates a gate. The tests pass it the name of an account instead of a request. */
function setUp(perTurn: number) {
  const accountOf = (request: IncomingMessage) => request as unknown as string
  const gate = createFairGate({ perTurn, accountOf })
  const served: string[] = []
  const arrive = (account: string) => {
    const serve = () => void served.push(account)
    if (gate.enter()) serve()
    else gate.wait(account as unknown as IncomingMessage, serve)
  }
  return { served, arrive, connected: gate.connected }
}

t.test('a few requests are served at once, in their order', async (t) => {
  const { served, arrive } = setUp(3)
  for (const account of ['a', 'b', 'a']) arrive(account)
  t.same(served, ['a', 'b', 'a'])
})

t.test('beyond that, accounts alternate, and each turn of the loop serves a few', async (t) => {
  const { served, arrive } = setUp(2)
  for (let n = 0; n < 6; n++) arrive('greedy')
  arrive('other')
  t.equal(served.length, 2)
  await immediate()
  t.same(served.slice(2), ['greedy', 'other'])
  while (served.length < 7) {
    const before = served.length
    await immediate()
    t.ok(served.length - before <= 2)
  }
  t.same(served.slice(4), ['greedy', 'greedy', 'greedy'])
})

t.test('after a client has connected, a turn serves four requests, then one more', async (t) => {
  const { served, arrive, connected } = setUp(6)
  connected()
  for (let n = 0; n < 20; n++) arrive('a')
  const counts = [served.length]
  for (const isConnected of [false, false, true, false]) {
    if (isConnected) connected()
    await immediate()
    counts.push(served.length)
  }
  t.same(counts, [4, 8, 14, 18, 20])
})
