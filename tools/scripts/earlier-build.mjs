// Builds earlier commits, so that this tree can be compared with them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './bootstrap.mjs'

const cacheDir = join(root, 'tools', 'bench', '.cache', 'builds')

/** Returns the full hash of a commit. Exits if the local history does not contain it. */
export function findCommit(revision, { command, option }) {
  const commit = hashOf(revision)
  if (commit !== undefined) return commit
  console.error(
    `The commit ${revision} is not in the local history. Run this in a clone with its history ` +
      `(git fetch --unshallow), or name another one: npm run ${command} -- ${option} <commit or tag>.`,
  )
  process.exit(1)
}

const hashOf = (revision) => git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)

/**
 * The default commit to compare this tree with: the last release before HEAD. Without a release,
 * the commit where this branch left `main`; on `main` itself, the parent of HEAD.
 */
export function defaultBase() {
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^')
  if (release !== undefined) return release
  const fork = git('merge-base', 'HEAD', 'main') ?? git('merge-base', 'HEAD', 'origin/main')
  return fork === undefined || fork === hashOf('HEAD') ? 'HEAD^' : fork
}

/** Installs and builds a commit; returns its folder. Only the last built commit is kept. */
export async function buildCommit(commit) {
  const folder = join(cacheDir, commit)
  if (!existsSync(folder)) {
    rmSync(cacheDir, { recursive: true, force: true })
    const unfinished = `${folder}.unfinished`
    mkdirSync(unfinished, { recursive: true })
    const archive = join(unfinished, 'source.tar')
    const inherit = { cwd: root, stdio: 'inherit' }
    execFileSync('git', ['archive', '--format=tar', `--output=${archive}`, commit], inherit)
    execFileSync('tar', ['-xf', archive, '-C', unfinished], inherit)
    rmSync(archive)
    renameSync(unfinished, folder)
  }
  const script = join(folder, 'tools/scripts/bootstrap.mjs')
  const { bootstrap } = await import(pathToFileURL(script).href)
  await bootstrap()
  return folder
}

/** The output of a git command, or undefined if it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout.trim() : undefined
}
