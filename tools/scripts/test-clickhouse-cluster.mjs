// npm run test:clickhouse-cluster: tests the tables of a cluster on two ClickHouse servers; takes
// about a minute.
import { execFileSync, spawnSync } from 'node:child_process'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b'], { cwd: root })
const { status } = spawnSync('node_modules/.bin/tap', ['test/clickhouse-cluster/main.ts'], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
