import { once } from 'node:events'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { body, objectAt, openStore } from '@intake/test-kit/open-store'
import { until } from '@intake/test-kit/until'
import { startS3 } from '../../src/index.ts'
import { sign } from './s3-requests.ts'

t.test('an upload that is in progress, or was cut off, leaves the object as it was', async (t) => {
  const dataDir = createDataDir(t)
  const server = await startS3({ dataDir, port: 0, secretKey: 'secret-key' })
  t.teardown(() => server.stop())
  const { port } = server
  const store = openStore(t, server.url)
  await store.ensureBucket()
  await store.put(objectAt('a/b.png'))

  const storedBytes = () => {
    const folder = join(dataDir, 'buckets')
    const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
    return files.reduce((sum, file) => sum + statSync(file).size, 0)
  }
  const before = storedBytes()
  const put = { method: 'PUT', target: '/intake/a/b.png', body: 'x'.repeat(2_000_000) }
  const headers = sign(put, { accessKey: 'intake', secretKey: 'secret-key', port })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  socket.write(`PUT ${put.target} HTTP/1.1\r\n${lines.join('')}\r\n${put.body.slice(0, 1_000_000)}`)
  await until('a part of it is on disk', () => storedBytes() > before + 500_000)
  t.ok((await store.get('a/b.png'))?.equals(body))

  socket.destroy()
  await once(socket, 'close')
  await until('the part is gone', () => storedBytes() < before + 500_000)
  t.ok((await store.get('a/b.png'))?.equals(body))

  rmSync(join(dataDir, 'buckets', '.uploads'), { recursive: true })
  await store.put(objectAt('a/c.png'))
  t.ok((await store.get('a/c.png'))?.equals(body), 'the folder for uploads is made again')
})

t.test('an object can be read while it is stored again', async (t) => {
  const server = await startS3({ dataDir: createDataDir(t), port: 0 })
  t.teardown(() => server.stop())
  const store = openStore(t, server.url)
  await store.ensureBucket()
  const object = objectAt('a/b.png')
  await store.put(object)
  const repeat = async (work: () => Promise<unknown>) => {
    for (let n = 0; n < 100; n++) await work()
  }
  const readers = Array.from({ length: 8 }, () => () => store.get(object.key))
  const writers = Array.from({ length: 8 }, () => () => store.put(object))
  await t.resolves(Promise.all([...readers, ...writers].map(repeat)))
})
