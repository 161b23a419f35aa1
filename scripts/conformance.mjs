// npm run -s conformance -- --adapter <url>: judges a sender. Only the command writes to stdout.
import { bootstrap } from './bootstrap.mjs'

await bootstrap()
await import('../packages/conformance/dist/main.js')
