import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { createCache } from '../../src/page/cached.ts'

t.test('a query that is running is shared, however long it takes', async (t) => {
  let now = 0
  let queries = 0
  let finish = (_value: string) => {}
  const cached = createCache(1_000, () => now)
  const read = () => {
    queries++
    return new Promise<string>((resolve) => (finish = resolve))
  }
  const results: Promise<string>[] = []
  for (; now < 10_000; now += 500) results.push(cached('status', read))
  t.equal(queries, 1)
  finish('done')
  t.same(new Set(await Promise.all(results)), new Set(['done']))

  now += 999
  t.equal(await cached('status', read), 'done', 'it is kept from when it has arrived')
  t.equal(queries, 1)
  now += 1
  const next = cached('status', read)
  t.equal(queries, 2)
  finish('again')
  t.equal(await next, 'again')
})

t.test('a failure is shared while it is awaited, and not kept', async (t) => {
  let queries = 0
  const cached = createCache(1_000, () => 0)
  const fail = async () => {
    queries++
    await turnOfTheLoop()
    throw new Error(`failure ${queries}`)
  }
  const [one, other] = [cached('status', fail), cached('status', fail)]
  await t.rejects(one, { message: 'failure 1' })
  await t.rejects(other, { message: 'failure 1' })
  await t.rejects(cached('status', fail), { message: 'failure 2' })
})

t.test('a result that is not whole is shared while it is awaited, and not kept', async (t) => {
  const cached = createCache(1_000, () => 0)
  const isWhole = (rows: number) => rows > 1
  let rows = 0
  const read = async () => {
    await turnOfTheLoop()
    return ++rows
  }
  const [one, other] = [cached('rows', read, isWhole), cached('rows', read, isWhole)]
  t.same([await one, await other], [1, 1])
  t.equal(await cached('rows', read, isWhole), 2)
  t.equal(await cached('rows', read, isWhole), 2)
})

t.test('each key has its own result', async (t) => {
  const cached = createCache(1_000, () => 0)
  t.equal(await cached('a', async () => 1), 1)
  t.equal(await cached('b', async () => 2), 2)
  t.equal(await cached('a', async () => 3), 1)
})
