// npm run test:hostile: hostile and careless senders beside an innocent one, on real processes, about
// 15 minutes. Some cases: npm run test:hostile -- --only a,d1. Ends with a line `N passed, N failed`.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'test/hostile'], { cwd: root, stdio: 'inherit' })
await import('../test/hostile/dist/hostile/main.js')
