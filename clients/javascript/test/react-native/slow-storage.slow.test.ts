import t from 'tap'
import { createSandbox } from '@intake/sandbox'
import { until } from '@intake/test-kit/until'
import { createIntake, type AsyncStorageLike } from '../../src/react-native/index.ts'

/** Creates an AsyncStorage whose calls all fail for `brokenMs`, as SQLite does while it is locked. */
function createLockedStorage(brokenMs: number): AsyncStorageLike {
  const values = new Map<string, string>()
  const began = performance.now()
  const call = async <Result>(run: () => Result): Promise<Result> => {
    if (performance.now() - began < brokenMs) throw new Error('SQLITE_BUSY')
    return run()
  }
  return {
    getItem: (key) => call(() => values.get(key) ?? null),
    setItem: (key, value) => call(() => values.set(key, value)),
    removeItem: (key) => call(() => values.delete(key)),
    getAllKeys: () => call(() => [...values.keys()]),
  }
}

t.jobs = 4
for (const [brokenMs, flushIntervalMs] of [
  [4000, 2000],
  [2500, 200],
  [6000, 1000],
  [Infinity, 500],
] as const) {
  const title = `a storage that fails for ${brokenMs} ms costs no event (flush: ${flushIntervalMs} ms)`
  t.test(title, { buffered: true }, async (t) => {
    const sandbox = await createSandbox()
    t.teardown(() => sandbox.close())
    const client = createIntake({
      url: sandbox.url,
      apiKey: sandbox.apiKey,
      bundleIdentifier: 'com.example.app',
      storage: createLockedStorage(brokenMs),
      flushIntervalMs,
    })
    for (let i = 0; i < 10; i++) client.log('e', { i })
    await until('all are records', () => sandbox.records().length === 10)
    t.equal(new Set(sandbox.records().map(({ device_uuid: device }) => device)).size, 1)
    t.same(client.stats().dropped, {})
    await client.shutdown({ timeoutMs: 200 })
  })
}
