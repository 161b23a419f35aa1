// npm run test:cluster: makes primaries of a Redis Cluster and of a Redis with sentinels fail under
// load, with each setting in test/cluster/main.ts. Takes about ten minutes. To select tests: npm
// run test:cluster -- --topology sentinel --setting REDIS_ACK_REPLICAS=1. The last line is `N
// passed, N failed`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap('test/kit')
const { status } = spawnSync(
  process.execPath,
  ['--import=tsx', join(root, 'test/cluster/main.ts'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
