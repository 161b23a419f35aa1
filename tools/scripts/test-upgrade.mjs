// npm run test:upgrade: runs an earlier build and this build together under load, and then goes
// back to the earlier build. Takes about six minutes. The earlier commit comes from the local
// history. npm run test:upgrade -- --from <commit or tag> selects another one. The last line is
// `N passed, N failed`.
import { spawnSync } from 'node:child_process'
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
const commit = findCommit(values.from, { command: 'test:upgrade', option: '--from' })

await bootstrap('test/faults')
console.error(`Building ${values.from} ...`)
const old = await buildCommit(commit)
const { status } = spawnSync(
  process.execPath,
  ['test/faults/dist/upgrade.js', '--old', old, ...(values.keep ? ['--keep'] : [])],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
