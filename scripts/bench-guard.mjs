// npm run bench:guard: compares the cost of an event with two anchors, in less than a minute. Exits with
// 1 if it has become much more expensive.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'bench'], { cwd: root, stdio: 'inherit' })
await import('../bench/dist/guard.js')
