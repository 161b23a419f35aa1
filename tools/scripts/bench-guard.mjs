// npm run bench:guard: compares the CPU cost of this tree with the cost of an earlier commit. Exits
// with 1 if a cost has risen by more than 5 %. See tools/bench/README.md.
import { bootstrap, root } from './bootstrap.mjs'
import { buildCommit, defaultBase, findCommit } from './earlier-build.mjs'
import { onNodeOfImages } from './node-binary.mjs'
import { printHelp } from './print-help.mjs'

printHelp(`Usage: npm run bench:guard -- [options]

Compares the CPU cost of this tree with that of an earlier commit (tools/bench/README.md).
  --base <commit>    default: the last release, or where the branch left main, or the parent
  --only <parts>     of gateway, batch, form, worker, idle and all, separated by commas
  --processes <n>    pairs of processes, default 8; fewer than 5 give no verdict
  --passes <n>       pairs of passes per pair of processes, default 6
Exit codes: 0 ok or cannot tell, 1 a figure has become more than 5 % dearer, or an error.`)

await onNodeOfImages()
await bootstrap('tools/bench')
const { guard, OptionError, readGuardOptions } = await import('../bench/dist/guard/index.js')

try {
  const options = readGuardOptions(process.argv.slice(2))
  const revision = options.base ?? defaultBase()
  const commit = findCommit(revision, { command: 'bench:guard', option: '--base' })
  const short = commit.slice(0, 9)
  const name = commit.startsWith(revision) ? short : `${revision} (${short})`
  console.error(`Building ${name}, which this tree is compared with ...`)
  const base = await buildCommit(commit)
  const { table, beyond } = await guard({ ...options, base: name, roots: { base, tree: root } })
  console.log(table)
  if (beyond) process.exitCode = 1
} catch (error) {
  console.error(error instanceof OptionError ? error.message : error)
  process.exitCode = 1
}
