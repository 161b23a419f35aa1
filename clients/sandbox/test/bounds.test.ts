import t from 'tap'
import { parseFault } from '../src/index.ts'
import { createFaults } from '../src/faults.ts'
import { createMemoryIdempotencyStore } from '../src/memory-ports.ts'
import { createRecordStore } from '../src/record-store.ts'

const row = (n: number) =>
  JSON.stringify({
    id: `id-${n}`,
    time: '2026-11-26T00:00:00.000Z',
    bundle_identifier: 'com.example.app',
    device_uuid: 'BD9C40F6-2F4F-4B8A-9D3B-7D3A4F1C2E10',
  })

t.test('the size of the store follows its records', async (t) => {
  const store = createRecordStore()
  t.equal(store.bytes(), 0)
  store.add('logs', row(1))
  const one = store.bytes()
  t.ok(one > row(1).length)
  store.add('logs', row(1))
  t.equal(store.bytes(), one, 'a repeat takes nothing')
  store.add('logs', row(2))
  t.equal(store.bytes(), 2 * one)
  store.takeBack('id-2')
  t.equal(store.bytes(), one)
  store.clear()
  t.equal(store.bytes(), 0)
})

t.test('a wait ends when its reader has gone', async (t) => {
  const store = createRecordStore()
  const gone = new AbortController()
  const waiting = store.untilCount(1, { timeoutMs: 600_000, signal: gone.signal })
  gone.abort()
  await waiting
  t.pass('ended')
})

t.test('keys_full: there is a maximum of keys', async (t) => {
  const store = createMemoryIdempotencyStore({ keysMax: 1 })
  const reservation = (key: string) => ({
    scope: 'logs' as const,
    apiKeyId: 'key_1',
    bundleIdentifier: 'com.example.app',
    deviceUuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
    key,
    fingerprint: 'same',
    id: 'id-1',
  })
  t.equal(await store.reserve(reservation('first'), 0), 'id-1')
  t.equal(await store.reserve(reservation('first'), 0), 'id-1', 'a known key still resolves')
  await t.rejects(store.reserve(reservation('second'), 0), { code: 'keys_full' })
})

t.test('queue_full: there is a maximum of faults', async (t) => {
  const faults = createFaults()
  for (let n = 0; n < 1_000; n++) faults.add(parseFault({ status: 503 }))
  t.throws(() => faults.add(parseFault({ status: 503 })), { code: 'queue_full' })
})
