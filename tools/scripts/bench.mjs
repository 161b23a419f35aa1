// npm run bench: measures Intake and small baseline services, in about ten minutes. To select
// suites: npm run bench -- --suite capacity,latency. See tools/bench/README.md.
import { join } from 'node:path'
import { bootstrap, nodeLines, root } from './bootstrap.mjs'
import { installNode, onNodeOfImages } from './node-binary.mjs'
import { printHelp } from './print-help.mjs'

printHelp(`Usage: npm run bench -- [options]

Measures Intake and small baseline services, in about ten minutes (tools/bench/README.md).
  --suite <names>      separated by commas; default: all
  --rounds <n>         turns in comparisons with a limit
  --seconds <n>        length of the load in a round
  --quick              short rounds of all suites; not a measurement
  --profile <folder>   write CPU profiles of gateways and workers there
  --save               write the report to tools/bench/results
Exit codes: 0 all events were visible exactly once, 1 they were not, or something else went wrong.`)

await onNodeOfImages()
await bootstrap('tools/bench')
const [[oldest]] = nodeLines()
const folder = join(root, 'tools', 'bench', '.cache', `node-${oldest}`)
process.env.BENCH_OLDEST_NODE = join(installNode(oldest, folder), 'node')
await import('../bench/dist/main.js')
