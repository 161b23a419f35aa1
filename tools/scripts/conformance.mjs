// npm run -s conformance -- --adapter <url>: tests a sender. Building writes to stderr, so stdout
// has only the output of the command.
import { bootstrap } from './bootstrap.mjs'

await bootstrap()
await import('../../clients/conformance/dist/main.js')
