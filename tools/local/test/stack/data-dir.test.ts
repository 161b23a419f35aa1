import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'

import { makeDataDir } from '../../src/stack/data-dir.ts'

const modeOf = (path: string) => statSync(path).mode & 0o777

t.test('only the owner can enter a new data directory', async (t) => {
  const path = `${createDataDir(t)}/a/b`
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  makeDataDir(path)
  t.equal(modeOf(path), 0o700)
})

t.test('an existing one is closed to other users', async (t) => {
  for (const mode of [0o755, 0o750, 0o777, 0o701, 0o1777]) {
    const path = `${createDataDir(t)}/data`
    mkdirSync(path)
    chmodSync(path, mode)
    makeDataDir(path)
    t.equal(modeOf(path), 0o700, 'an empty one')

    writeFileSync(`${path}/format.json`, '{}')
    chmodSync(path, mode)
    makeDataDir(path)
    t.equal(modeOf(path), 0o700, 'one with data')
  }
})

t.test('one with other files is refused, not closed', async (t) => {
  const path = createDataDir(t)
  chmodSync(path, 0o755)
  writeFileSync(`${path}/something`, '')
  t.throws(() => makeDataDir(path), {
    name: 'StartError',
    message:
      /^Other users can enter the data directory .+, which .+ chmod 700, or set INTAKE_DATA_DIR/,
  })
  t.equal(modeOf(path), 0o755)
  chmodSync(path, 0o700)
  makeDataDir(path)
})

t.test('one that an engine would take for a pattern is refused', async (t) => {
  for (const name of ['[1]', '{a,b}', '*', '?'])
    t.throws(() => makeDataDir(`${createDataDir(t)}/${name}`), {
      name: 'StartError',
      message: / has a [*?[{], which .+ set INTAKE_DATA_DIR to another folder\.$/,
    })
})

const isRoot = process.getuid?.() === 0
const noMount = !(isRoot && process.platform === 'linux') && 'needs root on Linux'
t.test('one of another user is refused', { skip: !isRoot && 'needs root' }, async (t) => {
  const path = createDataDir(t)
  chmodSync(path, 0o700)
  chownSync(path, 65_534, 65_534)
  t.throws(() => makeDataDir(path), { name: 'StartError', message: /belongs to another user/ })
})

t.test('one that cannot be created or written is refused with the true reason', async (t) => {
  const file = `${createDataDir(t)}/file`
  writeFileSync(file, '', { mode: 0o600 })
  // No folder can be created below /proc, even by root.
  for (const [path, code] of [
    [file, 'ENOTDIR'],
    [`${file}/a/b`, 'ENOTDIR'],
    ['/proc/intake/data', 'ENOENT'],
    ['/proc/self/intake/data', 'ENOENT'],
  ] as const) {
    t.throws(() => makeDataDir(path), {
      name: 'StartError',
      message: `The data directory ${path} cannot be created or written (${code}): set INTAKE_DATA_DIR to another folder.`,
    })
  }
})

t.test('a file system that is read-only is named', { skip: noMount }, async (t) => {
  const mount = createDataDir(t)
  const options = ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', mount]
  if (spawnSync('mount', options).status !== 0) return t.pass('this container may not mount')
  t.teardown(() => spawnSync('umount', [mount]))
  for (const path of [mount, `${mount}/a`, `${mount}/a/b`]) {
    t.throws(() => makeDataDir(path), { message: /cannot be created or written \(EROFS\)/ })
  }
})
