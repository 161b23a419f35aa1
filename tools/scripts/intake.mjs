// ./intake <command>: the operator's command line. Building writes to stderr, so stdout
// has only the output of the command.
import { bootstrap } from './bootstrap.mjs'

await bootstrap()
await import('../cli/dist/main.js')
