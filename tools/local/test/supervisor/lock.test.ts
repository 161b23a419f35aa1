import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'

import { lockDataDir, lockSocket } from '../../src/supervisor/lock.ts'

const refusal = {
  name: 'StartError',
  message:
    /^Intake is already running on .+: stop it first, or set INTAKE_DATA_DIR to another folder\.$/,
}

t.test('only one process locks a data directory, also through a symbolic link', async (t) => {
  const dir = t.testdir({ data: {} })
  symlinkSync(`${dir}/data`, `${dir}/link`)
  const lock = await lockDataDir(`${dir}/data`)
  await t.rejects(lockDataDir(`${dir}/data`), refusal)
  await t.rejects(lockDataDir(`${dir}/link`), refusal)
  await lock.release()
  await lock.release()
  const next = await lockDataDir(`${dir}/link`)
  await next.release()
})

async function startHolder(kind: 'folder' | 'socket', place: string) {
  const fixture = fileURLToPath(new URL('hold-lock.mjs', import.meta.url))
  const holder = spawn(process.execPath, [fixture, kind, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return holder
}

t.test(
  'only one of several that start at once gets the lock of a killed process',
  { skip: process.platform !== 'linux' && 'the file of the killed process remains' },
  async (t) => {
    const dir = t.testdir()
    const holder = await startHolder('folder', dir)
    await t.rejects(lockDataDir(dir), refusal)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const locks = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dir)))
    const held = locks.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await Promise.all(held.map((lock) => lock.release()))
    t.equal(held.length, 1)
  },
)

t.test('where a lock is a file, that of a killed process is replaced', async (t) => {
  // The path is short, because the system cuts the path of a socket after about 100 bytes.
  const path = join(createDataDir(t), 'socket')
  const holder = await startHolder('socket', path)
  t.equal(await lockSocket(path), undefined)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  t.ok(existsSync(path))
  const lock = await lockSocket(path)
  t.equal(await lockSocket(path), undefined)
  await lock!.release()
})
