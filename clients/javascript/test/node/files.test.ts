import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import type { Era } from '../../src/core/clock.ts'
import { newSegment, parseSegment, type Segment } from '../../src/core/segment.ts'
import type { State } from '../../src/core/state.ts'
import { createFileStorage } from '../../src/node/files.ts'
import { createIntake } from '../../src/node/index.ts'
import { processMark } from '../../src/node/runs.ts'
import { takeUnsaved } from '../../src/node/unsaved.ts'
import { common, nobody, startDevice } from './http-intake.ts'

const isSegment = (name: string) => name.split('.').length === 7

/** Makes a client leave events in a directory and end. Returns the name of the events' file. */
async function leaveEvents(storage: string, count: number): Promise<string> {
  const client = createIntake({ ...common, url: nobody, storage })
  for (let n = 0; n < count; n++) client.log('tap', { n })
  await client.stored()
  await client.shutdown({ timeoutMs: 10 })
  return readdirSync(storage).find(isSegment)!
}

t.test('a new file that a kill left incomplete does not replace the old one', async (t) => {
  const { server, storage, create } = await startDevice(t)
  const name = await leaveEvents(storage, 5)
  const parts = name.split('.')
  const next = [parts[0], '1', ...parts.slice(2)].join('.')
  const ended = '-pid999999999-1-0'
  const lines = readFileSync(join(storage, name), 'utf8').split('\n')
  writeFileSync(join(storage, `${next}${ended}-0.new`), `${lines.slice(0, 3).join('\n')}\n`)
  const client = create()
  t.same(await client.flush(), { left: 0 })
  t.equal(server.rows.size, 5)
  t.same(client.stats().dropped, {})
  await until('no temporary file is left', () =>
    readdirSync(storage).every((file) => !file.endsWith('.new')),
  )
})

t.test('after shutdown another client finds all, also if a send was running', async (t) => {
  const { server, create } = await startDevice(t)
  for (let round = 1; round <= 20; round++) {
    const first = create({ url: nobody })
    first.log('tap', { round })
    await first.stored()
    await first.shutdown({ timeoutMs: round % 4 })
    const second = create()
    await second.flush()
    t.equal(server.rows.size, round)
    await second.shutdown()
  }
})

t.test('a new name is there whole or not at all', async (t) => {
  const dir = createDataDir(t)
  const storage = createFileStorage(dir)
  const print = () => {
    throw new Error('this write ends here')
  }
  await t.rejects(storage.append('whole', true, 1, print))
  mkdirSync(join(dir, 'taken'))
  await t.rejects(storage.append('taken', true, 1, () => 'x'))
  t.same(readdirSync(dir).toSorted(), ['sequence', 'taken'])
})

/** Makes the next append to a file write a part of its text, wait for `meanwhile`, and fail. */
async function failNextAppend(t: Test, dir: string, meanwhile = async () => {}): Promise<void> {
  writeFileSync(join(dir, 'any'), '')
  const file = await open(join(dir, 'any'))
  const handle = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const { appendFile } = handle
  const restore = () => (handle.appendFile = appendFile)
  t.teardown(restore)
  handle.appendFile = async function (text) {
    restore()
    await appendFile.call(this, (text as string).slice(0, 5))
    await meanwhile()
    throw new Error('ENOSPC')
  }
}

t.test('of a text that was appended in part nothing remains, nor its numbers', async (t) => {
  const dir = createDataDir(t)
  const storage = createFileStorage(dir)
  await storage.append('a', true, 1, () => 'one\n')
  await failNextAppend(t, dir)
  await t.rejects(
    storage.append('a', false, 2, () => 'two\nthree\n'),
    /ENOSPC/,
  )
  t.equal(await storage.read('a'), 'one\n')
  await storage.append('b', true, 2, (first) => `${first}\n`)
  t.equal(await storage.read('b'), '2\n')
})

t.test('numbers that another client reserved meanwhile are not used twice', async (t) => {
  const dir = createDataDir(t)
  const [storage, other] = [createFileStorage(dir), createFileStorage(dir)]
  const print = (first: number) => `${first}\n`
  await storage.append('a', true, 1, print)
  await failNextAppend(t, dir, async () => void (await other.append('b', true, 1, print)))
  await t.rejects(storage.append('a', false, 2, print), /ENOSPC/)
  await storage.append('c', true, 2, print)
  t.same([await other.read('b'), await storage.read('c')], ['4\n', '5\n'])
})

t.test('events of a failed append keep no numbers', async (t) => {
  const { server, storage, create } = await startDevice(t)
  const client = create({ flushIntervalMs: 3_600_000 })
  client.log('first')
  await client.stored()
  await failNextAppend(t, storage, async () => void client.log('third'))
  client.log('second')
  await client.stored()
  t.same(await client.flush(), { left: 0 })
  t.same(server.numbered(), [
    ['first', 1],
    ['second', 2],
    ['third', 3],
  ])
})

const clientWith = (segment: Segment) =>
  ({ segments: [segment], run: 'r', options: {} }) as unknown as State

t.test('the end of the process writes also what a full storage refused', async (t) => {
  const era = { ms: 0, offset: 0, isTrusted: true } as unknown as Era
  const events = ['tap', 'tap'].map((event, n) => ({
    id: String(n),
    event,
    params: {},
  }))
  const memory = { user: '', era, events, written: 1 }
  const segment = newSegment({ key: 'k', name: 'only-in-memory', memory })
  const files = { existsSync: () => false, reserve: (count: number) => 10 - count }
  const [unsaved] = takeUnsaved(clientWith(segment), files)
  const { context, events: stored } = parseSegment(unsaved!.text)
  t.equal(context.run, 'r')
  const sequences = stored.map(({ sequence }) => sequence)
  t.same(sequences, [8, 9])
})

t.test('the end of the process numbers no event that is in a file', (t) => {
  const era = { ms: 0, offset: 0, isTrusted: true } as unknown as Era
  const events = ['a', 'b'].map((id) => ({ id, event: 'tap', params: {} }))
  const segment = newSegment({ key: 'k', name: 'n', memory: { user: '', era, events, written: 1 } })
  const files = { existsSync: () => true, reserve: (count: number) => 10 - count }
  const expected = [{ name: 'n', text: '{"id":"b","event":"tap","params":{},"sequence":9}\n' }]
  t.same(takeUnsaved(clientWith(segment), files), expected)
  t.same(takeUnsaved(clientWith(segment), files), [])
  t.end()
})

t.test('a name that cannot be synced is stored all the same', async (t) => {
  const dir = createDataDir(t)
  const storage = createFileStorage(dir)
  const file = await open(dir)
  const handle = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const { sync } = handle
  t.teardown(() => (handle.sync = sync))
  handle.sync = async function () {
    if ((await this.stat()).isDirectory()) throw new Error('EMFILE')
    return sync.call(this)
  }
  t.ok(await storage.append('a', true, 1, (first) => `${first}\n`))
  t.ok(await storage.rename('a', 'b'))
  t.equal(await storage.read('b'), '1\n')
})

t.test('a directory that is deleted while the client runs is made again', async (t) => {
  const { server, create } = await startDevice(t)
  const storage = join(createDataDir(t), 'inner')
  const client = create({ storage, flushIntervalMs: 3_600_000 })
  client.log('before')
  await client.stored()
  // The client may write its device after `stored`.
  await until('the device is written', () => existsSync(join(storage, 'device.value')))
  rmSync(storage, { recursive: true })
  client.log('after')
  await client.stored()
  t.equal(readdirSync(storage).filter(isSegment).length, 1)
  t.same(await client.flush(), { left: 0 })
  const after = [...server.rows.values()].find(({ event }) => event === 'after')
  t.equal(after?.sequence, 2, 'its numbers go on')
})

t.test('two clients of a process that share a directory lose nothing', async (t) => {
  const { server, create } = await startDevice(t)
  const make = () => create({ flushIntervalMs: 60_000 })
  const first = make()
  const clients = [first]
  for (let n = 0; n < 15; n++) {
    first.log('tap', { n })
    if (n === 7) clients.push(make())
    await first.stored()
  }
  for (const client of clients) await client.flush()
  t.equal(server.rows.size, 15)
  t.equal(server.repeats(), 0)
  for (const client of clients) await client.shutdown()
})

t.test('a run that may still write is not listed, also in its own process', async (t) => {
  const dir = createDataDir(t)
  const [first, second] = [createFileStorage(dir), createFileStorage(dir)]
  const uuid = '01a1fdfa-4600-75d0-9b9b-4b35b7cf1d10'
  const name = `${uuid}.0.0.${uuid}${processMark}.0.0.0`
  await first.append(name, true, 1, () => 'x')
  t.notOk((await second.list()).includes(name))
  first.close()
  t.ok((await second.list()).includes(name))
})

t.test('a process that got the id of an ended one does not own its records', async (t) => {
  const { server, storage, create } = await startDevice(t)
  const name = await leaveEvents(storage, 5)
  // This name contains the id of a running process (the parent), but another start time.
  const other = name.replace(processMark, `-pid${process.ppid}-1-0`)
  renameSync(join(storage, name), join(storage, other))
  const skip = process.platform !== 'linux' && 'only Linux says when a process started'
  const client = create()
  await client.flush()
  if (!skip) t.equal(server.rows.size, 5)
})

t.test('what the end of the process writes has numbers of its own', async (t) => {
  const dir = createDataDir(t)
  const storage = createFileStorage(dir)
  t.equal(storage.reserve(2), 1)
  await storage.append('a', true, 3, (first) => `${first}`)
  t.equal(await storage.read('a'), '3')
  t.equal(createFileStorage(dir).reserve(1), 6)
  writeFileSync(join(dir, 'file'), '')
  t.equal(createFileStorage(join(dir, 'file')).reserve(1), 0)
})

t.test('shutdown ends the request that is open', async (t) => {
  let end!: () => void
  const ended = new Promise<void>((resolve) => (end = resolve))
  const server = createServer((request) => request.socket.once('close', end))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const client = createIntake({ ...common, url: `http://127.0.0.1:${port}`, storage: 'memory' })
  client.log('tap')
  t.same(await client.shutdown({ timeoutMs: 100 }), { left: 1 })
  await ended
})
