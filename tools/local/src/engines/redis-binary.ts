import { execFile, type ExecFileOptions } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { StartError } from '../supervisor/start-error.ts'

const run = promisify(execFile)
const aptTimeoutMs = 120_000
const versionTimeoutMs = 10_000
const defaultCacheDir = fileURLToPath(
  new URL('../../../../node_modules/.cache/intake/redis', import.meta.url),
)

export interface RedisBinary {
  path: string
  /** Additional environment variables that the program needs. */
  env: NodeJS.ProcessEnv
}

export interface FindRedisOptions {
  say?: ((sentence: string) => void) | undefined
  env?: NodeJS.ProcessEnv
  cacheDir?: string
  signal?: AbortSignal | undefined
}

/**
 * If no Valkey or Redis is installed, unpacks the package of the distribution below `node_modules`,
 * which needs no root and changes nothing else.
 */
export async function findRedis(options: FindRedisOptions = {}): Promise<RedisBinary> {
  const { say = () => undefined, env = process.env, cacheDir = defaultCacheDir, signal } = options
  for (const name of ['valkey-server', 'redis-server']) {
    const path = await firstThatRuns(onPath(name, env), { signal })
    if (path !== undefined) return { path, env: {} }
  }
  const cached = await unpackedBinary(cacheDir)
  if (cached !== undefined) return cached
  if (onPath('apt-get', env).length === 0 || onPath('dpkg-deb', env).length === 0) {
    throw missing('this system has no apt-get to download it')
  }

  say('Redis is not installed: downloading redis-server with apt-get (about 2 MB, once) ...')
  try {
    await unpackDebs(cacheDir, { env, signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw missing(`apt-get could not download it: ${lastLine(error)}`)
  }
  const unpacked = await unpackedBinary(cacheDir)
  if (unpacked === undefined) throw missing('the downloaded one does not run on this system')
  return unpacked
}

function missing(why: string) {
  const command =
    process.platform === 'darwin' ? 'brew install redis' : 'sudo apt-get install redis-server'
  return new StartError(
    `Redis is missing and ${why}. Install it (for example: ${command}), or set REDIS_URL to a running one.`,
  )
}

function onPath(name: string, env: NodeJS.ProcessEnv) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).filter((path) => existsSync(path))
}

async function firstThatRuns(
  paths: string[],
  { env, signal }: { env?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined },
) {
  for (const path of paths) {
    const options = { env: { ...process.env, ...env }, timeout: versionTimeoutMs, signal }
    const works = await run(path, ['--version'], options).then(
      () => true,
      () => false, // wrong architecture, or a library is missing: try the next one
    )
    signal?.throwIfAborted()
    if (works) return path
  }
  return undefined
}

async function unpackedBinary(cacheDir: string): Promise<RedisBinary | undefined> {
  const libraries = [join(cacheDir, 'usr/lib'), join(cacheDir, 'lib')].flatMap(subfolders)
  const env = { LD_LIBRARY_PATH: libraries.join(delimiter) }
  const path = await firstThatRuns([join(cacheDir, 'usr/bin/redis-server')], { env })
  return path === undefined ? undefined : { path, env }
}

function subfolders(folder: string) {
  if (!existsSync(folder)) return []
  return readdirSync(folder).map((name) => join(folder, name))
}

/** Tries once more with new package lists: they may be outdated, or absent in a new image. */
async function unpackDebs(
  cacheDir: string,
  { env, signal }: { env: NodeJS.ProcessEnv; signal: AbortSignal | undefined },
) {
  await mkdir(dirname(cacheDir), { recursive: true })
  const work = await mkdtemp(`${cacheDir}-`)
  const options = { cwd: work, env, timeout: aptTimeoutMs, signal }
  try {
    await download(options).catch(async () => {
      await run('apt-get', ['update'], options)
      await download(options)
    })
    const debs = (await readdir(work)).filter((name) => name.endsWith('.deb'))
    for (const deb of debs) await run('dpkg-deb', ['-x', deb, 'root'], options)
    await rm(cacheDir, { recursive: true, force: true })
    await rename(join(work, 'root'), cacheDir)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Downloads redis-server and those of its dependencies that are not installed. Downloads
 * redis-tools even if it is installed: redis-server contains only a relative link to a program in
 * redis-tools, so both must be unpacked in the same folder.
 */
async function download(options: ExecFileOptions) {
  const args = ['-s', '--no-install-recommends', 'install', 'redis-server']
  const { stdout } = await run('apt-get', args, options)
  const absent = [...String(stdout).matchAll(/^Inst (\S+)/gm)].map(([, name]) => name as string)
  const names = new Set(['redis-server', 'redis-tools', ...absent])
  await run('apt-get', ['download', ...names], options)
}

function lastLine(error: unknown) {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}
