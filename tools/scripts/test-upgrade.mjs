// npm run test:upgrade: runs an earlier build and this build together under load, and then goes
// back to the earlier build. Takes about six minutes. The earlier commit comes from the local
// history and is installed and built in a temporary folder. npm run test:upgrade -- --from <commit
// or tag> selects another commit. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bootstrap, root } from './bootstrap.mjs'
import { buildCommit, findCommit } from './earlier-build.mjs'

/**
 * The commit from which an upgrade is tested by default: the last one whose workers do what the
 * console does. Its tables, frames and keys have the same form as in this build. After the first
 * release, replace it by the tag of that release.
 */
const previous = '62fa7bbf'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: previous },
    keep: { type: 'boolean', default: false },
  },
})
const commit = findCommit(values.from)
if (commit === undefined) {
  console.error(
    `The earlier build ${values.from} is not in the local history. Run this in a clone with its history ` +
      '(git fetch --unshallow), or name another one: npm run test:upgrade -- --from <commit or tag>.',
  )
  process.exit(1)
}

await bootstrap('test/faults')

const old = mkdtempSync(join(tmpdir(), 'intake-earlier-'))
// Deletes the folder on exit. A `finally` is not enough, because a build that fails exits the
// process.
process.on('exit', () => rmSync(old, { recursive: true, force: true }))
console.error(`Building ${values.from} in ${old} ...`)
await buildCommit(commit, old)
const { status } = spawnSync(
  process.execPath,
  ['test/faults/dist/upgrade.js', '--old', old, ...(values.keep ? ['--keep'] : [])],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
