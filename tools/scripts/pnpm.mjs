// Fetches pnpm and compares its package with the hash in package.json, which npx and npm ignore.
// This module imports only Node's own modules, because it may run before anything is installed.
// Usage: npm install --global "$(node tools/scripts/pnpm.mjs [FOLDER])"
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Writes a package of pnpm that has the hash in package.json; returns its path, which npm takes in
 * place of a name. Throws if it has another hash. The package has only the launcher; npm checks the
 * program, whose exact version the launcher names, against the registry's hashes.
 */
export function fetchPnpm(
  folder = join(root, 'node_modules', '.cache', 'intake'),
  manifest = join(root, 'package.json'),
) {
  const { packageManager } = JSON.parse(readFileSync(manifest, 'utf8'))
  const [, spec, wanted] = /^(pnpm@[\d.]+)\+sha512\.([\da-f]{128})$/.exec(packageManager) ?? []
  if (spec === undefined)
    throw new Error('packageManager in package.json needs a version and a hash')
  mkdirSync(folder, { recursive: true })
  const options = ['--loglevel=error', '--prefer-offline', '--pack-destination', folder]
  const name = execFileSync('npm', ['pack', ...options, spec], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
  })
  const path = join(folder, name.trim())
  const found = createHash('sha512').update(readFileSync(path)).digest('hex')
  if (found === wanted) return path
  rmSync(path)
  throw new Error(`${spec} does not have the hash in package.json.`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  console.log(fetchPnpm(folder && resolve(folder)))
}
