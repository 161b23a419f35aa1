// npm run test:hostile: runs hostile and careless senders together with a well-behaved one, on real
// processes, about ten minutes. To select cases: npm run test:hostile -- --only a,d1. The last line
// is `N passed, N failed`.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('test/hostile')
await import('../../test/hostile/dist/hostile/main.js')
