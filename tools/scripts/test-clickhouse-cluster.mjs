// npm run test:clickhouse-cluster: tests the tables of a cluster on two ClickHouse servers; takes
// about a minute.
import { bootstrap } from './bootstrap.mjs'
import { runTap } from './run-tap.mjs'

await bootstrap('.')
const { failed } = await runTap(['test/clickhouse-cluster/main.ts'])
process.exitCode = failed === 0 ? 0 : 1
