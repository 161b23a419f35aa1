import t from 'tap'
import { createAsyncStorage, type AsyncStorageLike } from '../../src/react-native/async-storage.ts'
import { withStorageTimeout } from '../../src/react-native/storage-timeout.ts'
import { createHost, portsOf } from '../host.ts'

/** A device with storage that can stop responding. Calls made meanwhile end when it responds again. */
function createDevice() {
  const values = new Map<string, string>()
  let silence: Promise<void> | undefined
  let end: () => void
  async function respond<Result>(run: () => Result): Promise<Result> {
    await silence
    return run()
  }
  const storage: AsyncStorageLike = {
    getItem: (key) => respond(() => values.get(key) ?? null),
    setItem: (key, value) => respond(() => values.set(key, value)),
    removeItem: (key) => respond(() => values.delete(key)),
    getAllKeys: () => respond(() => [...values.keys()]),
  }
  const host = createHost()
  host.storage = createAsyncStorage(withStorageTimeout(storage, portsOf(host).time), 'i.')
  return {
    host,
    values,
    stopResponding() {
      silence = new Promise((resolve) => (end = resolve))
    },
    respondAgain() {
      silence = undefined
      end()
    },
  }
}

t.test('what a storage that never responds cannot keep is sent all the same', async (t) => {
  const { host, stopResponding } = createDevice()
  stopResponding()
  const client = host.start()
  client.log('first')
  const receipt = client.feedback({ text: 'It broke.' })
  const stored = client.stored()
  await host.time.advance(20_000)
  t.match(await receipt, { isKept: true })
  await stored
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 1)
  t.equal(host.server.feedback.length, 1)
  t.match(client.stats(), { pending: { logs: 0, feedback: 0 }, dropped: {} })
})

t.test('a call that takes effect after its timeout makes no second record', async (t) => {
  const { host, values, stopResponding, respondAgain } = createDevice()
  const client = host.start()
  client.log('first')
  await client.stored()
  stopResponding()
  client.log('second')
  await host.time.advance(20_000)
  respondAgain()
  await host.time.advance(20_000)
  client.log('third')
  await host.time.advance(20_000)
  t.equal(host.server.rows.size, 3)
  const next = host.start()
  next.log('fourth')
  await host.time.advance(20_000)
  t.equal(host.server.rows.size, 4)
  t.same(next.stats().dropped, {})
  t.same([...values.keys()], ['i.sequence'])
})
