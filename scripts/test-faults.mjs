// npm run test:faults: the fault suites on real processes, about half an hour. One scenario or
// several: npm run test:faults -- --only F12,F20. Ends with a line `N passed, N failed`.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'test/faults'], { cwd: root, stdio: 'inherit' })
await import('../test/faults/dist/main.js')
