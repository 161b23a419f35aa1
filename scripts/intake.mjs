// npm run -s intake -- <command>: the operator's command line. Only the command writes to stdout.
import { bootstrap } from './bootstrap.mjs'

await bootstrap()
await import('../packages/cli/dist/main.js')
