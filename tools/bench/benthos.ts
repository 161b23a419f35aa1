import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const buildMs = 480_000
// Relative to the built file, `dist/benthos.js`.
const sources = fileURLToPath(new URL('../benthos/', import.meta.url))
const cacheDir = fileURLToPath(new URL('../.cache/', import.meta.url))
export const benthosConfig = join(sources, 'config.yaml')

/** Whether Go, which builds Benthos, is installed. */
export async function hasGo(): Promise<boolean> {
  return run('go', ['version'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  )
}

/**
 * Returns the path of the program Benthos. The first call builds it, in about two minutes; its
 * modules come from the Go module proxy.
 */
export async function buildBenthos(signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(sources, name)))
  const program = join(cacheDir, `benthos-${hash.digest('hex').slice(0, 12)}`)
  if (existsSync(program)) return program
  console.error('building Benthos, about two minutes, once ...')
  mkdirSync(cacheDir, { recursive: true })
  await run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', program, '.'], {
    cwd: sources,
    timeout: buildMs,
    signal,
    env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
  })
  return program
}
