// npm start: runs everything on this machine. Stops on Ctrl-C and SIGTERM.
import { bootstrap } from './bootstrap.mjs'

const parent = process.ppid
await bootstrap()
// The supervisor watches its parent, which it cannot do if the parent has already exited.
if (process.ppid !== parent) process.exit(1)
await import('../packages/local/dist/stack/main.js')
