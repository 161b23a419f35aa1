// npm run test:tools: drivers of others ask ClickHouse as an analyst, against what `npm start` runs,
// with nothing but host, port, user and password. They are installed in test/tools/.cache from their
// registries, each in its newest release; one that cannot be installed is skipped, with a line that
// says so. npm run test:tools -- NAME … runs only those of test/tools/install.ts. Takes about five
// minutes. The last line is `N passed, N failed`.
import { bootstrap } from './bootstrap.mjs'
import { report, runTap } from './run-tap.mjs'

await bootstrap()
const counts = await runTap(['--timeout=3600', 'test/tools/tools.ts'], {
  ...process.env,
  TOOLS: process.argv.slice(2).join(','),
})
report([counts])
