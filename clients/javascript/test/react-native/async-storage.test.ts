import t from 'tap'
import type { AsyncStorageLike } from '../../src/react-native/async-keys.ts'
import { createAsyncStorage } from '../../src/react-native/async-storage.ts'
import { readDeviceInfo, readExpo } from '../../src/react-native/device.ts'
import { createHost, type Host } from '../host.ts'

/** Creates a device whose storage can be full for new keys, or fail. */
function createDevice() {
  const values = new Map<string, string>()
  const device = {
    values,
    isFull: false,
    fails: false,
    getItem: async (key: string) => values.get(key) ?? null,
    async setItem(key: string, value: string) {
      if (device.isFull && !values.has(key)) throw new Error('SQLITE_FULL')
      values.set(key, value)
    },
    removeItem: async (key: string) => void values.delete(key),
    async getAllKeys() {
      if (device.fails) throw new Error('database is locked')
      return [...values.keys()]
    },
  }
  return device
}

/**
 * Starts a client whose process is killed at the call of storage or network that follows `calls`
 * calls: before that call has an effect or, if `isDone`, after it.
 */
function startUntilKilled(host: Host, device: AsyncStorageLike, calls: number, isDone: boolean) {
  let left = calls
  const call = <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (left-- > 0) return run()
    if (left === -1 && isDone) void run()
    return new Promise(() => undefined)
  }
  const storage: AsyncStorageLike = {
    getItem: (key) => call(() => device.getItem(key)),
    setItem: (key, value) => call(() => device.setItem(key, value)),
    removeItem: (key) => call(() => device.removeItem(key)),
    getAllKeys: () => call(() => device.getAllKeys()),
  }
  return host.start(undefined, {
    storage: createAsyncStorage(storage, 'i.'),
    transport: (request) => call(() => host.server.transport(request)),
    setTimeout: (run, ms) => host.time.setTimeout(() => left < 0 || run(), ms),
  })
}

t.test('clients that start at the same time are one device', async (t) => {
  const host = createHost()
  const device = createDevice()
  for (const _ of [1, 2, 3]) {
    const storage = createAsyncStorage(device, 'i.')
    host.start({ deviceUuid: undefined }, { storage }).log('tap')
  }
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 3)
  t.equal(new Set(host.server.batches.map(({ device_uuid: uuid }) => uuid)).size, 1)
})

t.test('keys that could not be read once are read again', async (t) => {
  const device = createDevice()
  await createAsyncStorage(device, 'i.').set('device', 'x')
  const storage = createAsyncStorage(device, 'i.')
  device.fails = true
  await t.rejects(storage.list())
  device.fails = false
  t.same(await storage.list(), ['device'])
})

t.test('a full storage keeps nothing of what was sent', async (t) => {
  const device = createDevice()
  const host = createHost()
  host.storage = createAsyncStorage(device, 'i.')
  const client = host.start()
  client.log('first')
  await client.stored()
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 20; n++) client.log('tap', { n })
    await client.stored()
    device.isFull = true
    await host.time.advance(10_000)
    for (let n = 0; n < 20; n++) client.log('full', { n })
    await host.time.advance(10_000)
    device.isFull = false
    await host.time.advance(10_000)
  }
  t.equal(host.server.rows.size, 121)
  t.same([...device.values.keys()], ['i.sequence'])
})

t.test('the numbers of a failed append are used by the next one', async (t) => {
  const device = createDevice()
  const storage = createAsyncStorage(device, 'i.')
  const print = (first: number) => `${first}\n`
  await storage.append('a', true, 1, print)
  device.isFull = true
  await t.rejects(storage.append('a', false, 2, print), /SQLITE_FULL/)
  await t.rejects(storage.append('b', true, 2, print), /SQLITE_FULL/)
  device.isFull = false
  await storage.append('b', true, 2, print)
  t.equal(await storage.read('b'), '2\n')
})

t.test('numbers that another client reserved meanwhile are not used twice', async (t) => {
  const device = createDevice()
  const storage = createAsyncStorage(device, 'i.')
  const other = createAsyncStorage(device, 'i.')
  const print = (first: number) => `${first}\n`
  await storage.append('a', true, 1, print)
  const { setItem } = device
  device.setItem = async (key, value) => {
    if (!key.includes('ta.')) return setItem(key, value)
    device.setItem = setItem
    await other.append('b', true, 1, print)
    throw new Error('SQLITE_IOERR')
  }
  await t.rejects(storage.append('a', false, 2, print), /SQLITE_IOERR/)
  await storage.append('c', true, 1, print)
  t.same([await other.read('b'), await storage.read('c')], ['4\n', '5\n'])
})

t.test('a build number that is no integer is left out', async (t) => {
  for (const [build, code] of [
    ['12', 12],
    ['1.2', undefined],
    ['1e30', undefined],
    ['beta', undefined],
  ] as const) {
    const info = await readDeviceInfo({ getBuildNumber: () => build }, 'ios')
    t.equal(info['version_code'], code)
    const expo = await readExpo({
      Device: { platformApiLevel: 'x' },
      Application: { nativeBuildVersion: build },
    })
    t.equal(expo['version_code'], code)
    t.equal(expo['sdk_version'], undefined)
  }
})

const hourMs = 3_600_000

t.test('a kill at any call leaves nothing behind, and every event arrives once', async (t) => {
  for (const ahead of [0, hourMs]) {
    for (const isDone of [false, true]) {
      for (let calls = 0; calls < 60; calls++) {
        const device = createDevice()
        const host = createHost()
        host.ahead = ahead
        const client = startUntilKilled(host, device, calls, isDone)
        const stored: string[] = []
        for (const event of ['first', 'second', 'third']) {
          client.log(event)
          void client.stored().then(() => stored.push(event))
          await host.time.advance(100)
        }
        await host.time.advance(3 * hourMs)
        host.ahead = 0
        host.storage = createAsyncStorage(device, 'i.')
        const next = host.start()
        next.log('next')
        await host.time.advance(hourMs)
        const rows = [...host.server.rows.values()]
        const events = rows.map(({ event }) => event)
        const label = `${isDone ? 'after' : 'before'} call ${calls}, ${ahead} ms ahead`
        t.equal(new Set(events).size, events.length, `${label}: no event twice`)
        t.equal(new Set(rows.map(({ sequence }) => sequence)).size, rows.length, label)
        const missing = [...stored, 'next'].filter((event) => !events.includes(event))
        t.same(missing, [], `${label}: nothing is missing`)
        t.same(next.stats().dropped, {}, `${label}: nothing is dropped`)
        t.same([...device.values.keys()], ['i.sequence'], `${label}: nothing is left`)
      }
    }
  }
})

t.test('a segment is sent although its old name cannot be removed', async (t) => {
  const device = createDevice()
  const host = createHost()
  host.storage = createAsyncStorage(device, 'i.')
  const client = host.start()
  client.log('first')
  await client.stored()
  client.log('second')
  await client.stored()
  host.server.faults = ['unreachable']
  const { removeItem } = device
  device.removeItem = async () => {
    throw new Error('SQLITE_IOERR')
  }
  await host.time.advance(20_000)
  t.equal(host.server.rows.size, 2)
  t.same(client.stats(), { ...client.stats(), pending: { logs: 0, feedback: 0 }, dropped: {} })
  device.removeItem = removeItem
  host.storage = createAsyncStorage(device, 'i.')
  const next = host.start()
  await host.time.advance(20_000)
  t.equal(host.server.rows.size, 2)
  t.same(next.stats().dropped, {})
  t.same([...device.values.keys()], ['i.sequence'])
})
