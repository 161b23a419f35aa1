import t from 'tap'
import { createHost } from './host.ts'

const minute = 60_000

t.test('a name that a rule drops is left out for five minutes, then one event asks', async (t) => {
  const host = createHost()
  let isDropped = true
  const sent: unknown[] = []
  host.server.leaveOut = ({ event, params }) => {
    if (event !== 'noise') return undefined
    sent.push(params['n'])
    return isDropped ? 'dropped' : undefined
  }
  const drops: string[] = []
  const client = host.start({ onDrop: (reason) => void drops.push(reason) })
  const log = async (...numbers: number[]) => {
    for (const n of numbers) client.log('noise', { n })
    await host.time.advance(10_000)
  }
  await log(...Array.from({ length: 19 }, (_, n) => n))
  await log(19)
  t.equal(sent.length, 20)
  t.equal(client.log('noise'), undefined)
  client.log('tap')
  await log(20, 21)
  t.equal(sent.length, 20)
  const tap = [...host.server.rows.values()].find(({ event }) => event === 'tap')
  t.equal(tap?.sequence, 21, 'what is left out has no number')
  await host.time.advance(5 * minute)
  await log(22, 23)
  t.same(sent.slice(20), [22])
  await host.time.advance(4 * minute)
  await log(24)
  t.same(sent.slice(20), [22], 'the answer is valid for five minutes more')
  await host.time.advance(2 * minute)
  isDropped = false
  await log(25, 26)
  await log(27, 28)
  t.same(sent.slice(20), [22, 25, 27, 28])
  t.same(drops, [], 'nothing of it is a loss')
})

t.test('a name of which some events are stored is not left out', async (t) => {
  const host = createHost()
  let arrived = 0
  host.server.leaveOut = () => (++arrived % 15 === 0 ? undefined : 'dropped')
  const client = host.start()
  for (let n = 0; n < 60; n++) {
    client.log('tap')
    await host.time.advance(10_000)
  }
  t.equal(arrived, 60)
})

t.test('a name is not left out for longer because the clock was set back', async (t) => {
  const host = createHost()
  let arrived = 0
  host.server.leaveOut = () => (arrived++, 'dropped')
  const client = host.start()
  for (let n = 0; n < 20; n++) client.log('tap')
  await host.time.advance(10_000)
  host.ahead = -60 * minute
  await host.time.advance(5 * minute)
  client.log('tap')
  await host.time.advance(10_000)
  t.equal(arrived, 21)
})
