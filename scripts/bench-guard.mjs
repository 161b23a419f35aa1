// npm run bench:guard: what an event costs against two anchors, in less than a minute. Exit code 1
// when it has become much dearer.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'bench'], { cwd: root, stdio: 'inherit' })
await import('../bench/dist/guard.js')
