import t from 'tap'
import { stemOf } from '../src/core/entry-name.ts'
import type { Storage } from '../src/core/ports.ts'
import { createHost, portsOf, type Host } from './host.ts'

/** Makes calls of the storage fail until the returned function is called. */
function breakStorage(host: Host, ...names: (keyof Storage)[]): () => void {
  const whole = { ...host.storage }
  const fail = () => Promise.reject(new Error('database is locked'))
  for (const name of names) Object.assign(host.storage, { [name]: fail })
  return () => void Object.assign(host.storage, whole)
}

t.test('records stay while the storage cannot be read', async (t) => {
  const host = createHost()
  const client = host.start({ batchEntriesMax: 10 })
  host.server.faults = Array.from({ length: 4 }, () => 'unreachable' as const)
  for (let n = 0; n < 100; n++) client.log('tap', { n })
  await client.feedback({ text: 'It broke.' })
  await client.stored()
  const mend = breakStorage(host, 'read', 'get')
  await host.time.advance(60_000)
  t.same(client.stats().pending, { logs: 100, feedback: 1 })
  mend()
  await host.time.advance(3_600_000)
  t.equal(host.server.rows.size, 100)
  t.equal(host.server.feedback.length, 1)
  t.same(client.stats().dropped, {})
})

t.test('a start waits until it can read whether the user has opted out', async (t) => {
  const host = createHost()
  await host.storage.set('opted-out', true)
  await host.storage.set('device', 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e11')
  const mend = breakStorage(host, 'get', 'list')
  const client = host.start({ deviceUuid: '' })
  client.log('tap')
  await host.time.advance(1000)
  mend()
  await host.time.advance(60_000)
  t.equal(host.server.requests.length, 0)
  t.equal(client.stats().isOptedOut, true)
  t.equal(await host.storage.get('device'), 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e11')
})

const devicesOf = (host: Host) => [
  ...new Set(host.server.batches.map(({ device_uuid: device }) => device)),
]

t.test('nothing is sent before the device is known, whatever wakes the client', async (t) => {
  const host = createHost()
  host.start({ deviceUuid: '' }).log('before')
  await host.time.advance(6000)
  const [device] = devicesOf(host)
  const mend = breakStorage(host, 'get', 'list')
  const ports = { pageEndBytes: () => 60_000 }
  const client = host.start({ deviceUuid: '', flushIntervalMs: 200 }, ports)
  for (let n = 0; n < 10; n++) client.log('tap', { n })
  void client.feedback({ text: 'Late' })
  for (let ms = 0; ms < 4000; ms += 500) {
    client.wake()
    client.leavePage()
    void client.flush({ timeoutMs: 100 })
    await host.time.advance(500)
    t.equal(host.server.requests.length, 1)
  }
  mend()
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 11)
  t.same(devicesOf(host), [device])
  t.equal(JSON.parse(host.server.feedback[0]!.payload).device_uuid, device)
  t.same(client.stats().dropped, {})
})

t.test('when the storage can be read, its device is that of all that was not sent', async (t) => {
  const host = createHost()
  const kept = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e11'
  await host.storage.set('device', kept)
  await host.storage.set('dropped', { queue_full: 3 })
  const mend = breakStorage(host, 'get', 'list')
  const client = host.start({ deviceUuid: '' })
  client.log('')
  await host.time.advance(9000)
  host.server.faults = ['unreachable', 'unreachable']
  client.log('waits')
  void client.feedback({ text: 'Waits' })
  await host.time.advance(500)
  mend()
  await host.time.advance(3_600_000)
  t.same(devicesOf(host), [kept])
  t.equal(JSON.parse(host.server.feedback[0]!.payload).device_uuid, kept)
  const report = [...host.server.rows.values()].find(({ event }) => event === 'intake.dropped')
  t.same(report?.params, { invalid_event: 1, queue_full: 3 })
})

t.test('a new device keeps the UUID that was made before its storage could be read', async (t) => {
  const host = createHost()
  const mend = breakStorage(host, 'get', 'list')
  const client = host.start({ deviceUuid: '' })
  client.log('tap')
  await host.time.advance(15_000)
  const [device] = devicesOf(host)
  mend()
  await host.time.advance(10_000)
  t.equal(await host.storage.get('device'), device)
  host.start({ deviceUuid: '' }).log('next')
  await host.time.advance(6000)
  t.same(devicesOf(host), [device])
})

t.test('an opt-out of an earlier run is obeyed when it can be read, unless undone', async (t) => {
  for (const isUndone of [false, true]) {
    const host = createHost()
    await host.storage.set('opted-out', true)
    const mend = breakStorage(host, 'get', 'list')
    const client = host.start()
    await host.time.advance(10_000)
    if (isUndone) await client.optIn()
    mend()
    await host.time.advance(10_000)
    t.equal(client.stats().isOptedOut, !isUndone)
  }
})

t.test('a client that has ended does not read the storage again', async (t) => {
  const host = createHost()
  let reads = 0
  host.storage.get = () => Promise.reject(new Error(`read ${++reads}`))
  const client = host.start()
  void client.shutdown({ timeoutMs: 10 })
  await host.time.advance(1000)
  const before = reads
  await host.time.advance(60_000)
  t.equal(reads, before)
})

t.test('an event that is only in memory has no number, and the next ones go on', async (t) => {
  const host = createHost()
  const client = host.start()
  const log = async (event: string) => {
    client.log(event)
    await client.stored()
  }
  await log('stored')
  // Fails like a transaction that is aborted after the events were printed, for example because a
  // browser's database is full. Such a transaction takes its numbers back.
  const { append } = host.storage
  host.storage.append = async (_name, _isNew, _count, print) => {
    print(2)
    throw new Error('QuotaExceededError')
  }
  await log('in memory')
  await log('in memory, too')
  await host.time.advance(20_000)
  host.storage.append = append
  await log('stored again')
  await host.time.advance(20_000)
  t.same(host.server.numbered(), [
    ['stored', 1],
    ['in memory', undefined],
    ['in memory, too', undefined],
    ['stored again', 2],
  ])
})

t.test('nor does it get one at the end of the page', async (t) => {
  const host = createHost()
  const client = host.start({}, { pageEndBytes: () => 60_000 })
  client.log('stored')
  await client.stored()
  const mend = breakStorage(host, 'append')
  client.log('in memory')
  await client.stored()
  mend()
  client.identify('user-1')
  client.log('of a user')
  await client.stored()
  client.leavePage()
  await host.time.advance(20_000)
  client.log('later')
  await client.stored()
  await host.time.advance(20_000)
  const numbers = host.server.numbered()
  t.same(Object.fromEntries(numbers), {
    stored: 1,
    'in memory': undefined,
    'of a user': 2,
    later: 3,
  })
})

/**
 * Creates a database that tabs share. Each call is one transaction; the transactions run in order
 * and take 1 ms each.
 */
function createSharedStorage(host: Host): Storage {
  const names = new Set<string>()
  const texts = new Map<string, string>()
  const values = new Map<string, unknown>()
  let sequence = 0
  let last: Promise<unknown> = Promise.resolve()
  function transact<Result>(run: () => Result): Promise<Result> {
    const result = last.then(
      () => new Promise<Result>((resolve) => host.time.setTimeout(() => resolve(run()), 1)),
    )
    last = result
    return result
  }
  return {
    list: () => transact(() => [...names, ...values.keys()]),
    read: (name) => transact(() => texts.get(stemOf(name))),
    append: (name, isNew, count, print) =>
      transact(() => {
        if (!isNew && !names.has(name)) return false
        names.add(name)
        texts.set(stemOf(name), (texts.get(stemOf(name)) ?? '') + print(sequence + 1))
        sequence += count
        return true
      }),
    rename: (from, to) => transact(() => names.delete(from) && !!names.add(to)),
    remove: (name) =>
      transact(() => {
        values.delete(name)
        if (names.delete(name)) texts.delete(stemOf(name))
      }),
    get: (key) => transact(() => values.get(key)),
    set: (key, value) => transact(() => void values.set(key, value)),
  }
}

t.test('a second tab loses nothing that the first one stores while it opens', async (t) => {
  for (let openMs = 3; openMs < 20; openMs++) {
    const host = createHost()
    host.storage = createSharedStorage(host)
    const tab = () => host.start({}, { ...portsOf(host), pageEndBytes: () => 60_000 })
    const first = tab()
    const stored = new Set<number>()
    for (let ms = 0; ms < 40; ms++) {
      if (ms === openMs) tab()
      if (ms % 2 === 0) {
        first.log('tap', { n: ms })
        void first.stored().then(() => stored.add(ms))
      }
      await host.time.advance(1)
    }
    await host.time.advance(60_000)
    const rows = new Set([...host.server.rows.values()].map(({ params }) => params['n']))
    const others = [...stored].filter((n) => !rows.has(n))
    t.same(others, [], `the second tab opens after ${openMs} ms`)
    t.ok(stored.size >= 18)
  }
})

t.test('a storage that is full for a moment hides nothing of what it has', async (t) => {
  const host = createHost()
  const client = host.start({ flushIntervalMs: 60_000 })
  for (let n = 0; n < 10; n++) client.log('before', { n })
  await client.stored()
  const { storageBytes } = client.stats()
  const mend = breakStorage(host, 'append')
  for (let n = 0; n < 5; n++) client.log('full', { n })
  await client.stored()
  mend()
  t.equal(client.stats().pending.logs, 15)
  host.server.faults = ['unreachable']
  await host.time.advance(60_000)
  t.equal(client.stats().pending.logs, 15)
  t.ok(client.stats().storageBytes < 1.8 * storageBytes, 'stored events are counted once')
  await host.time.advance(120_000)
  t.equal(host.server.rows.size, 15)
  t.equal(host.server.repeats(), 0)
  t.same(client.stats().pending, { logs: 0, feedback: 0 })
  t.equal(client.stats().storageBytes, 0)
  t.same(await host.storage.list(), [])
})
