import type { Test } from 'tap'
import { describeStoreError, type ObjectStore } from '@intake/object-store'
import { body, objectAt, openStore } from '@intake/test-kit/open-store'
import { until } from '@intake/test-kit/until'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { conforms, createFinder } from '../conformance/attachments.ts'
import type { ManagedService } from '../faults/kit/service.ts'

const stored = 'feedback/2026/11/24/an-id/1.png'

export async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.list(prefix)) keys.push(key)
  return keys
}

/**
 * Freezes a server. Its threads stop one by one, so this function waits until the server does not
 * respond.
 */
export async function freeze(t: Test, server: ManagedService): Promise<void> {
  const impatient = openStore(t, server.url(), { timeoutMs: 500 })
  server.freeze()
  await until('the server is frozen', () =>
    impatient.checkBucket().then(
      () => false,
      () => true,
    ),
  )
}

/** Tests on one server everything that gateway, worker and commands do with attachments. */
export async function testStore(t: Test, server: ManagedService): Promise<void> {
  const store = openStore(t, server.url())

  await t.test('the bucket is created once, and then it is there', async (t) => {
    for (const prefix of [undefined, 'team/intake']) {
      const missing = openStore(t, server.url(), { bucket: 'missing', prefix })
      await t.rejects(missing.checkBucket(), { message: 'there is no bucket missing' })
      const error: unknown = await missing.put(objectAt(stored)).catch((reason: unknown) => reason)
      t.match(error, { code: 'storage_unavailable' })
      t.equal(describeStoreError(error), 'the bucket does not exist')
      await openStore(t, server.url(), { prefix }).ensureBucket()
      await openStore(t, server.url(), { prefix }).ensureBucket()
      await openStore(t, server.url(), { prefix }).checkBucket()
    }
  })

  await t.test('attachments in the bucket', (t) => conforms(t, store, createFinder(server.url())))
  await t.test('attachments below a prefix', async (t) => {
    const below = openStore(t, server.url(), { prefix: 'team/intake' })
    await conforms(t, below, createFinder(server.url(), 'team/intake/'))
  })

  await t.test('an object is read up to a size; a missing one is undefined', async (t) => {
    await store.put(objectAt(stored))
    t.same(await store.get(stored, { bytesMax: body.length }), body)
    await t.rejects(store.get(stored, { bytesMax: body.length - 1 }), /larger than/)
    t.equal(await store.get('feedback/none.png'), undefined)
  })

  await t.test('an image of 10 MiB is stored and read', async (t) => {
    const large = objectAt('feedback/large.png', Buffer.alloc(10 * 1024 ** 2, 'image'))
    await store.put(large)
    t.ok((await store.get(large.key))?.equals(large.body))
  })

  await t.test(
    'all keys are listed in pages, without the prefix, and can be removed',
    async (t) => {
      const below = openStore(t, server.url(), { prefix: 'listed' })
      const names = Array.from({ length: 1_010 }, (_, n) => String(n).padStart(4, '0'))
      // Keys like those of attachments: two objects in each folder.
      const keys = names.map((name, n) => `feedback/2026/11/24/${names[n - (n % 2)]}/${name}.png`)
      for (let at = 0; at < keys.length; at += 32) {
        await Promise.all(keys.slice(at, at + 32).map((key) => below.put(objectAt(key))))
      }
      t.same(await keysOf(below, 'feedback/2026/11/'), keys)
      t.same(await keysOf(below, 'feedback/2026/10/'), [])
      for (let at = 0; at < keys.length; at += 64) await below.remove(keys.slice(at, at + 64))
      t.same(await keysOf(below, ''), [])
      t.same(await store.get(stored), body, 'objects outside the prefix are kept')
    },
  )

  await t.test(
    'a wrong secret and an unknown key are refused at once, with the reason',
    async (t) => {
      const credentials = {
        'wrong-secret-key': 'the store does not accept the secret key',
        'unknown-key': 'the store does not know the access key',
      }
      for (const [wrong, reason] of Object.entries(credentials)) {
        const endpoint = new URL(server.url())
        if (wrong === 'unknown-key') endpoint.username = wrong
        else endpoint.password = wrong
        const stranger = openStore(t, endpoint.href)
        const elapsedMs = startStopwatch(t)
        const error: unknown = await stranger.put(objectAt(stored)).catch((cause: unknown) => cause)
        t.match(error, { code: 'storage_unavailable' })
        t.equal(describeStoreError(error), reason)
        t.ok(elapsedMs() < 20_000)
        const refused: unknown = await stranger.checkBucket().catch((cause: unknown) => cause)
        t.equal(describeStoreError(refused), reason)
        await t.rejects(stranger.get(stored))
      }
    },
  )

  await t.test(
    'a frozen server is given up within the timeout, and used again after it',
    async (t) => {
      const timeoutMs = 2_000
      const patient = openStore(t, server.url(), { timeoutMs })
      await patient.put(objectAt(stored))
      await freeze(t, server)
      try {
        const elapsedMs = startStopwatch(t)
        await Promise.all([
          t.rejects(patient.put(objectAt(stored)), { code: 'storage_unavailable' }),
          t.rejects(patient.get(stored)),
          // The server will execute this removal when it is thawed. So the removal names an object
          // that does not exist.
          t.rejects(patient.remove(['feedback/none.png'])),
          t.rejects(keysOf(patient, 'feedback/')),
          t.rejects(patient.checkBucket()),
        ])
        t.ok(elapsedMs() < 2 * timeoutMs)
      } finally {
        server.thaw()
      }
      await store.put(objectAt(stored))
      t.same(await store.get(stored), body)
    },
  )

  await t.test('what was confirmed before a kill is there after the restart', async (t) => {
    const patient = openStore(t, server.url(), { timeoutMs: 1_000 })
    const keys = Array.from({ length: 50 }, (_, n) => `killed/${String(n).padStart(2, '0')}.png`)
    await Promise.all(keys.map((key) => store.put(objectAt(key))))
    await server.kill()
    await t.rejects(patient.put(objectAt(stored)), { code: 'storage_unavailable' })
    await server.start()
    t.same(await keysOf(store, 'killed/'), keys)
    for (const key of keys) t.same(await store.get(key), body)
    await store.put(objectAt(stored))
  })
}
