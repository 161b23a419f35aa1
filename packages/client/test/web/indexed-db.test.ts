import t from 'tap'
import { createIndexedDbStorage } from '../../src/web/indexed-db.ts'

t.test('a transaction that never ends is given up after five seconds', async (t) => {
  const transaction = { objectStore: () => ({ getAllKeys: () => ({}) }) }
  const opened = { result: { transaction: () => transaction }, onsuccess: () => {} }
  const page: Record<string, unknown> = globalThis
  t.intercept(page, 'indexedDB', { value: { open: () => opened } })
  t.intercept(page, 'IDBKeyRange', { value: { bound: () => ({}) } })
  const timers = new Map<() => void, number | undefined>()
  t.intercept(page, 'setTimeout', {
    value: (run: () => void, ms?: number) => timers.set(run, ms),
  })
  const listed = createIndexedDbStorage('intake.test').list()
  opened.onsuccess()
  timers.clear()
  await new Promise(setImmediate)
  t.same([...timers.values()], [5000])
  for (const run of timers.keys()) run()
  await t.rejects(listed)
})
