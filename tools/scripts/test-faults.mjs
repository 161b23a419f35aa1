// npm run test:faults: runs the fault suites on real processes, about half an hour. To select
// scenarios: npm run test:faults -- --only F12,F20. The last line is `N passed, N failed`.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'test/faults'], { cwd: root, stdio: 'inherit' })
await import('../../test/faults/dist/main.js')
