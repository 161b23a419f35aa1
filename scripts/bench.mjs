// npm run bench: measures Intake against small anchors, in nine to twelve minutes. To select
// suites: npm run bench -- --suite capacity,latency. See bench/README.md.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'bench'], { cwd: root, stdio: 'inherit' })
await import('../bench/dist/main.js')
