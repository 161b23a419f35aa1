// npm run test:faults: runs the fault suites on real processes, about half an hour. To select
// scenarios: npm run test:faults -- --only F12,F20. The last line is `N passed, N failed`.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('test/faults')
await import('../../test/faults/dist/main.js')
