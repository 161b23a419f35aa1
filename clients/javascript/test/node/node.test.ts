import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createFileStorage } from '../../src/node/files.ts'
import { startDevice } from './http-intake.ts'

t.test('events and feedback with an image reach the gateway', async (t) => {
  const { server, storage, create } = await startDevice(t)
  const client = create()
  const id = client.log('tap', { text: 'ü😀\n', deep: { list: [1, null] } })
  for (let n = 0; n < 200; n++) client.log('many', { n })
  const data = Buffer.from('image')
  const receipt = await client.feedback({ text: 'Good', attachments: [{ data, name: 'a.png' }] })
  t.same(await client.flush(), { left: 0 })
  t.equal(server.rows.size, 201)
  t.match(server.rows.get(id!), { params: { text: 'ü😀\n', deep: { list: [1, null] } } })
  t.match(server.feedback, [{ attachments: [{ name: 'a.png', text: 'image' }] }])
  t.match(JSON.parse(server.feedback[0]!.payload), { feedback: { id: receipt.id, text: 'Good' } })
  await client.shutdown()
  t.same(readdirSync(storage).toSorted(), ['device.value', 'sequence'])
})

for (const flushIntervalMs of [Infinity, 3e9])
  t.test(`with an interval of ${flushIntervalMs} ms only flush sends`, async (t) => {
    const { server, create } = await startDevice(t)
    const client = create({ storage: 'memory', flushIntervalMs })
    client.log('tap')
    await new Promise((resolve) => setTimeout(resolve, 100))
    t.equal(server.rows.size, 0)
    t.same(await client.flush(), { left: 0 })
    t.equal(server.rows.size, 1)
  })

t.test('the last error says why a connection failed', async (t) => {
  const { server, create } = await startDevice(t)
  server.faults.push('lost')
  const client = create()
  client.log('tap')
  t.same(await client.flush(), { left: 0 })
  t.match(client.stats().lastError, { status: 0, message: 'other side closed' })
  await client.shutdown()
})

t.test('the device keeps its UUID and its sequence over restarts', async (t) => {
  const { server, create } = await startDevice(t)
  for (const event of ['a', 'b']) {
    const client = create()
    client.log(event)
    await client.shutdown()
  }
  const rows = [...server.rows.values()]
  t.equal(new Set(rows.map(({ batch }) => batch.device_uuid)).size, 1)
  const sequences = rows.map(({ sequence }) => sequence)
  t.same(sequences, [1, 2])
})

t.test('a line that was not written completely costs no other event', async (t) => {
  const { server, storage, create } = await startDevice(t)
  const blocked = create({ url: 'http://127.0.0.1:9' })
  blocked.log('whole')
  await blocked.shutdown({ timeoutMs: 10 })
  const file = readdirSync(storage).find((name) => name.split('.').length === 7)
  writeFileSync(join(storage, file!), '{"id":"01a1fdfa-4600-75d0-9b9b-4b35', { flag: 'a' })
  const client = create()
  t.same(await client.flush(), { left: 0 })
  t.same(server.events(), ['whole'])
})

t.test('a directory that cannot be used costs nothing but the restart', async (t) => {
  const { server, create } = await startDevice(t)
  const dir = createDataDir(t)
  writeFileSync(join(dir, 'file'), '')
  const client = create({ storage: join(dir, 'file', 'x') })
  client.log('tap')
  await client.feedback({ text: 'Good' })
  t.same(await client.flush(), { left: 0 })
  t.equal(server.rows.size + server.feedback.length, 2)
})

t.test('of two renames of one file one succeeds', async (t) => {
  const storage = createFileStorage(createDataDir(t))
  t.equal(await storage.append('a', true, 5, (first) => `${first}\n`), true)
  const renames = await Promise.all(['b', 'c', 'd'].map((to) => storage.rename('a', to)))
  t.equal(renames.filter(Boolean).length, 1)
  t.equal(await storage.append('a', false, 1, () => 'y'), false)
  t.equal(await storage.append('e', true, 1, (first) => `${first}`), true)
  t.equal(await storage.read('e'), '6')
})
