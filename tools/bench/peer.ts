import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A third-party product to compare with: the program Benthos, or the reason why it is left out. */
export type Peer = { program: string; config: string } | { leftOut: string }

const sources = fileURLToPath(new URL('../peer/', import.meta.url))
const cacheDir = fileURLToPath(new URL('../.cache/', import.meta.url))
const buildMs = 480_000
const run = promisify(execFile)

/** Builds Benthos if Go is installed. This takes about two minutes, but is done only once. */
export async function buildPeer(options: {
  say: (sentence: string) => void
  signal: AbortSignal
}): Promise<Peer> {
  const { say, signal } = options
  const hash = createHash('sha256')
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(sources, name)))
  const program = join(cacheDir, `benthos-${hash.digest('hex').slice(0, 12)}`)
  const built = { program, config: join(sources, 'benthos.yaml') }
  if (existsSync(program)) return built
  const go = (...args: string[]) =>
    run('go', args, {
      cwd: sources,
      timeout: buildMs,
      signal,
      env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
    })
  try {
    await go('version')
  } catch (error) {
    signal.throwIfAborted()
    return { leftOut: `\`go\` cannot be run (${reasonOf(error)})` }
  }
  say('building Benthos, about two minutes, once ...')
  mkdirSync(cacheDir, { recursive: true })
  try {
    await go('build', '-trimpath', '-ldflags=-s -w', '-o', program, '.')
    return built
  } catch (error) {
    signal.throwIfAborted()
    return { leftOut: `it could not be built (${reasonOf(error)})` }
  }
}

/** Returns the last line of stderr, or the error code; `message` has the whole command, too. */
function reasonOf(error: unknown): string {
  const { stderr, code } = error as { stderr?: string; code?: string | number }
  return stderr?.trim().split('\n').at(-1) || String(code)
}
