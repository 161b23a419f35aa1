import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { body, objectAt, openStore } from '@intake/test-kit/open-store'
import { ownS3 } from '@intake/test-kit/own-services'
import { s3Client } from '@intake/test-kit/s3-client'
import { lowest } from '@intake/test-kit/lowest'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import type { ObjectStore } from '../src/index.ts'

const server = await ownS3(t)
const { password: secretKey } = new URL(server.url)

const store = openStore(t, server.url)
const object = objectAt('feedback/2026/11/21/an-id/1.png')

t.before(async () => {
  await store.ensureBucket()
  await store.ensureBucket()
})

t.test('an object can be read, up to a size; a missing one is undefined', async (t) => {
  const read = { ...object, key: 'feedback/2026/11/21/an-id/2.png' }
  await store.put(read)
  t.same(await store.get(read.key, { bytesMax: body.length }), body)
  await t.rejects(store.get(read.key, { bytesMax: body.length - 1 }), /larger than/)
  t.equal(await store.get('feedback/none.png', { bytesMax: 10 }), undefined)
})

t.test('an object is stored byte for byte, with type and hash, and can be removed', async (t) => {
  await store.put(object)
  const reader = s3Client(server.url)
  t.same(await buffer(await reader.getObject('intake', object.key)), body)
  t.match(await reader.statObject('intake', object.key), {
    metaData: { 'content-type': 'image/png', sha256: object.sha256 },
  })
  await store.remove([object.key])
  await t.rejects(reader.statObject('intake', object.key), { code: 'NotFound' })
})

t.test('wrong credentials are storage_unavailable at once', async (t) => {
  const stranger = openStore(t, server.url.replace(secretKey, 'wrong-secret-key'))
  const elapsedMs = await lowest(2_000, async () => {
    const stopwatch = startStopwatch(t, [server.pid])
    await t.rejects(stranger.put(object), { code: 'storage_unavailable' })
    return stopwatch()
  })
  t.ok(elapsedMs < 2_000)
})

t.test('a store that is down or silent is storage_unavailable within the timeout', async (t) => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  for (const port of [1, (silent.address() as AddressInfo).port]) {
    const unavailable = openStore(t, `http://a:b@127.0.0.1:${port}`, { timeoutMs: 500 })
    const elapsedMs = await lowest(1_500, async () => {
      const stopwatch = startStopwatch(t)
      await t.rejects(unavailable.put(object), { code: 'storage_unavailable' })
      return stopwatch()
    })
    t.ok(elapsedMs < 1_500)
  }
})

t.test('when the connection is cut after the last byte, the upload is repeated', async (t) => {
  // Closes the first connection when its response arrives, so that the client does not get it.
  const { reader, connections } = await openClosing(t, 'response')
  await reader.put(object)
  t.equal(connections(), 2)
})

t.test('a connection that the server closes when it is used again is no failure', async (t) => {
  await store.put(object)
  for (const read of [
    (reader: ObjectStore) => reader.get(object.key),
    (reader: ObjectStore) => reader.checkBucket(),
  ]) {
    const { reader, connections } = await openClosing(t, 'second request')
    t.same(await read(reader), await read(reader))
    t.equal(connections(), 2, String(read))
  }
})

/**
 * Opens a store through a proxy, which closes the first connection when its response arrives, or
 * when a second request arrives on it, as servers do with idle connections.
 */
async function openClosing(t: Test, at: 'response' | 'second request') {
  const { hostname, port } = new URL(server.url)
  let connections = 0
  const proxy = createServer((client) => {
    const isFirst = connections++ === 0
    let responded = false
    const upstream = connect(Number(port), hostname)
    upstream.on('error', () => client.destroy())
    upstream.on('data', (chunk) => {
      responded = true
      if (isFirst && at === 'response') client.destroy()
      else client.write(chunk)
    })
    client.on('error', () => upstream.destroy())
    client.on('data', (chunk) => {
      if (isFirst && responded) client.resetAndDestroy()
      else upstream.write(chunk)
    })
    client.on('close', () => upstream.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port: own } = proxy.address() as AddressInfo
  const reader = openStore(t, server.url.replace(port, String(own)))
  t.teardown(() => proxy.close())
  return { reader, connections: () => connections }
}
