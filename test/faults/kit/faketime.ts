import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ManagedService } from './service.ts'
import { runs } from './runs.ts'

const folder = join(tmpdir(), `intake-faketime-${process.pid}`)

/**
 * Downloads libfaketime unless it is installed. Returns the reason if it cannot be installed,
 * otherwise undefined.
 */
export async function mayFakeTime(): Promise<string | undefined> {
  if (findLibrary() !== undefined) return undefined
  mkdirSync(folder, { recursive: true })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const options = { cwd: folder }
  const problem =
    (await runs('apt-get', ['download', 'libfaketime'], options)) ??
    (await runs('sh', ['-c', 'dpkg-deb -x libfaketime_*.deb .'], options))
  if (problem !== undefined) return `libfaketime is not available here: ${problem}`
  return findLibrary() === undefined ? 'the package contains no libfaketime' : undefined
}

/**
 * Restarts a service with a wall clock that can be set. Monotonic clocks are not affected.
 *
 * @returns a function that sets the clock's offset
 */
export async function restartWithFakeTime(
  service: ManagedService,
  dir: string,
): Promise<(offMs: number) => void> {
  const file = join(dir, 'fake-time')
  const setOffMs = (offMs: number) => {
    writeFileSync(file, `${offMs < 0 ? '-' : '+'}${Math.abs(offMs) / 1000}`)
  }
  setOffMs(0)
  await service.kill()
  // The service inherits these variables. No other process is started while they are set.
  const names = {
    // jemalloc reads the time when it starts, and libfaketime needs memory for that. So libc is
    // loaded before jemalloc, and libfaketime gets its memory from libc.
    LD_PRELOAD: `${findLibrary()}:libc.so.6`,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  Object.assign(process.env, names)
  try {
    await service.start()
  } finally {
    for (const name of Object.keys(names)) delete process.env[name]
  }
  return setOffMs
}

function findLibrary(): string | undefined {
  return ['/usr/lib', join(folder, 'usr/lib')]
    .flatMap((lib) => (existsSync(lib) ? readdirSync(lib).map((name) => join(lib, name)) : []))
    .map((lib) => join(lib, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
}
