// Builds earlier commits, so that this tree can be compared with them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './bootstrap.mjs'

const cacheDir = join(root, 'tools', 'bench', '.cache', 'builds')

/** Returns the full hash of a commit, or undefined if the local history does not contain it. */
export function findCommit(revision) {
  return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)
}

/**
 * The default commit to compare this tree with: the last release before HEAD. Without a release,
 * the commit where this branch left `main`; on `main` itself, the parent of HEAD.
 */
export function defaultBase() {
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^')
  if (release !== undefined) return release
  const fork = git('merge-base', 'HEAD', 'main') ?? git('merge-base', 'HEAD', 'origin/main')
  return fork === undefined || fork === findCommit('HEAD') ? 'HEAD^' : fork
}

export async function buildCommit(commit, folder) {
  unpack(commit, folder)
  await bootstrapIn(folder)
}

/** Returns the folder of a build. Only the last built commit is kept. */
export async function buildCommitOnce(commit) {
  const folder = join(cacheDir, commit)
  if (!existsSync(folder)) {
    rmSync(cacheDir, { recursive: true, force: true })
    const unfinished = `${folder}.unfinished`
    unpack(commit, unfinished)
    renameSync(unfinished, folder)
  }
  await bootstrapIn(folder)
  return folder
}

function unpack(commit, folder) {
  mkdirSync(folder, { recursive: true })
  const archive = join(folder, 'source.tar')
  const inherit = { cwd: root, stdio: 'inherit' }
  execFileSync('git', ['archive', '--format=tar', `--output=${archive}`, commit], inherit)
  execFileSync('tar', ['-xf', archive, '-C', folder], inherit)
  rmSync(archive)
}

/** Installs and builds a folder; does almost nothing if that is already done. */
async function bootstrapIn(folder) {
  const script = ['tools/scripts', 'scripts']
    .map((scripts) => join(folder, scripts, 'bootstrap.mjs'))
    .find((path) => existsSync(path))
  const { bootstrap } = await import(pathToFileURL(script).href)
  await bootstrap()
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
