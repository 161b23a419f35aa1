// Other versions of Node, from the npm registry.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root, run } from './bootstrap.mjs'

const system = process.platform === 'win32' ? 'win' : process.platform
const binaryPackage = `node-${system}-${process.arch}`

/** Installs the newest Node of a release line in a folder; returns the folder of its program. */
export function installNode(major, folder) {
  mkdirSync(folder, { recursive: true })
  const npm = ['install', '--silent', '--no-save', '--prefix', folder, `${binaryPackage}@${major}`]
  execFileSync('npm', npm, { stdio: 'inherit' })
  return join(folder, 'node_modules', binaryPackage, 'bin')
}

/**
 * Runs this script once more, on the version of Node that the images have (`NODE_IMAGE` in
 * deploy/Dockerfile), and exits with its exit code. Returns if this is that version.
 */
export async function onNodeOfImages() {
  const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8')
  const [, major] = /^ARG NODE_IMAGE=node:(\d+)/m.exec(dockerfile)
  // The bench says itself that it needs Linux.
  if (process.platform !== 'linux' || process.versions.node.startsWith(`${major}.`)) return
  const bin = installNode(major, join(root, 'tools', 'bench', '.cache', `node-${major}`))
  // The kernel ends the child when this process ends for any reason.
  const leash = ['--pdeathsig', 'TERM', join(bin, 'node')]
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
  process.exit(
    await run('setpriv', [...leash, ...process.argv.slice(1)], { env, stdio: 'inherit' }),
  )
}
