// npm run test:hostile: runs hostile and careless senders together with a well-behaved one, on real
// processes, about 15 minutes. To select cases: npm run test:hostile -- --only a,d1. The last line
// is `N passed, N failed`.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'test/hostile'], { cwd: root, stdio: 'inherit' })
await import('../../test/hostile/dist/hostile/main.js')
