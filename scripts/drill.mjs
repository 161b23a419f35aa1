// npm run drill: starts Intake, kills every component in turn under load, and reports whether every
// acknowledged record is visible exactly once. Takes less than two minutes.
import { execFileSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tsc = 'node_modules/typescript/bin/tsc'
execFileSync(process.execPath, [tsc, '-b', 'test/faults'], { cwd: root, stdio: 'inherit' })
await import('../test/faults/dist/drill.js')
