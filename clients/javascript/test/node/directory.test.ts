import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createIntake } from '../../src/node/index.ts'
import { common, nobody, startDevice, startHttpIntake } from './http-intake.ts'

t.test('files of others stay as they are, whatever their names', async (t) => {
  const { storage, create } = await startDevice(t)
  const names = [
    'app.log.2026.11.26.12.gz',
    'report.2026.11.26.17.00.csv',
    '1.2.3.4.5.6.7',
    'state.json.new',
    'build-pid1-2-3-4.new',
    'feedback-notes.txt',
    'feedback-notes.value',
    'settings.value',
  ]
  for (const name of names) writeFileSync(join(storage, name), 'not yours')
  const client = create()
  client.log('tap')
  await client.flush()
  await client.optOut()
  await client.shutdown()
  const found = readdirSync(storage).filter((name) => names.includes(name))
  t.same(found, names.toSorted())
  t.same(client.stats().dropped, {})
})

t.test('clients that start at the same time are one device', async (t) => {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  const clients = [1, 2, 3].map(() => createIntake({ ...common, url: server.url, storage }))
  for (const client of clients) client.log('tap')
  for (const client of clients) await client.shutdown()
  const devices = [...server.rows.values()].map(({ batch }) => batch.device_uuid)
  t.equal(devices.length, 3)
  t.equal(new Set(devices).size, 1)
})

t.test('a value that cannot be parsed is absent, and hides nothing else', async (t) => {
  for (const victim of ['device', 'dropped', 'feedback', 'opted-out']) {
    const { server, storage, create } = await startDevice(t)
    const first = create({ url: nobody })
    first.log('')
    first.log('kept')
    for (const text of ['a', 'b']) await first.feedback({ text })
    await first.stored()
    if (victim === 'opted-out') await first.optOut()
    await first.shutdown({ timeoutMs: 10 })
    const file = readdirSync(storage).find((name) => name.startsWith(victim))!
    truncateSync(join(storage, file))
    const devices = new Set<string>()
    for (const run of [1, 2]) {
      const next = create()
      next.log(`run ${run}`)
      await next.flush()
      if (run === 1) t.equal(next.stats().dropped['damaged'], 1, victim)
      await next.shutdown()
    }
    for (const { event, batch } of server.rows.values())
      if (event.startsWith('run')) devices.add(batch.device_uuid)
    const isOut = victim === 'opted-out'
    t.equal(server.rows.size > 0, !isOut, victim)
    t.equal(devices.size, isOut ? 0 : 1, 'the device keeps its next UUID')
    t.equal(server.feedback.length, isOut ? 0 : victim === 'feedback' ? 1 : 2, victim)
  }
})

t.test('two clients of a directory never use a number twice', async (t) => {
  const { server, create } = await startDevice(t)
  const clients = [1, 2].map(() => create())
  for (let n = 0; n < 20; n++) {
    for (const client of clients) client.log('tap')
    await Promise.all(clients.map((client) => client.stored()))
  }
  for (const client of clients) await client.shutdown()
  const numbers = [...server.rows.values()].map(({ sequence }) => sequence)
  t.equal(numbers.length, 40)
  t.equal(new Set(numbers).size, 40)
})

t.test('an event of a later exit listener is written', async (t) => {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  const entry = new URL('../../src/node/index.ts', import.meta.url).href
  const options = JSON.stringify({ ...common, url: nobody, storage, flushIntervalMs: 60_000 })
  const script = `import { createIntake } from ${JSON.stringify(entry)}
    const client = createIntake(${options})
    process.on('exit', (code) => { client.log('exit', { code }); client.log('last') })
    client.log('normal')
    process.exit(0)`
  const flags = ['--import=tsx', '--conditions=intake:source', '--input-type=module', '-e', script]
  await promisify(execFile)(process.execPath, flags)
  const client = createIntake({ ...common, url: server.url, storage })
  t.same(await client.flush(), { left: 0 })
  const rows = [...server.rows.values()]
  const events = rows.map(({ event }) => event)
  t.same(events, ['normal', 'exit', 'last'])
  t.equal(new Set(rows.map(({ sequence }) => sequence)).size, 3)
  await client.shutdown()
})

t.test('without a home directory events wait in memory', async (t) => {
  const entry = new URL('../../src/node/index.ts', import.meta.url).href
  const script = `import { syncBuiltinESMExports } from 'node:module'
    import os from 'node:os'
    os.homedir = () => { throw new Error('ENOENT') }
    syncBuiltinESMExports()
    const { createIntake } = await import(${JSON.stringify(entry)})
    const client = createIntake(${JSON.stringify({ ...common, url: nobody })})
    client.log('tap')
    console.log(JSON.stringify(await client.shutdown({ timeoutMs: 10 })))`
  const flags = ['--import=tsx', '--conditions=intake:source', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  t.same(JSON.parse(stdout), { left: 1 })
})

t.test('a relative storage stays where it was when the client was created', async (t) => {
  const server = await startHttpIntake(t)
  const dir = createDataDir(t)
  const entry = new URL('../../src/node/index.ts', import.meta.url).href
  // The client may write its device after `stored`, and a directory that gets a file meanwhile is
  // not removed.
  const changes = [
    `process.chdir('..')`,
    `while (!existsSync('app/records/device.value')) await setTimeout(5)
      rmSync(process.cwd(), { recursive: true })`,
  ]
  for (const [at, change] of changes.entries()) {
    mkdirSync(join(dir, `${at}`))
    const options = { ...common, url: server.url, storage: 'app/records', flushIntervalMs: 60_000 }
    const script = `import { existsSync, rmSync } from 'node:fs'
      import { setTimeout } from 'node:timers/promises'
      import { createIntake } from ${JSON.stringify(entry)}
      process.chdir(${JSON.stringify(join(dir, `${at}`))})
      const client = createIntake(${JSON.stringify(options)})
      client.log('before ${at}')
      await client.stored()
      ${change}
      client.log('after ${at}')
      await client.stored()
      await client.shutdown()`
    const flags = [
      '--import=tsx',
      '--conditions=intake:source',
      '--input-type=module',
      '-e',
      script,
    ]
    // Without an absolute path the second process never ends, in a call that nothing interrupts.
    await promisify(execFile)(process.execPath, flags, { timeout: 120_000, killSignal: 'SIGKILL' })
    t.ok(readdirSync(join(dir, `${at}`, 'app', 'records')).includes('sequence'))
  }
  const events = server.events()
  // What was in the deleted directory is lost.
  t.same(events.toSorted(), ['after 0', 'after 1', 'before 0'])
})
