// npm start: everything on this machine. Ends on Ctrl-C and SIGTERM.
import { bootstrap } from './bootstrap.mjs'

const parent = process.ppid
await bootstrap()
// The supervisor watches its parent from here on; one that went away earlier cannot be watched.
if (process.ppid !== parent) process.exit(1)
await import('../packages/stack/dist/main.js')
