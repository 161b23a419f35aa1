// npm run test:states: brings about every bad state of docs/operations in a system of real
// processes. Each must be visible within 15 seconds: in its metric, in /status, in the log and,
// with Prometheus on the PATH, as an alert. Takes about half an hour. To select states: npm run
// test:states -- --only insert_retry,backlog.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap('test/kit')
const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0
if (!hasPrometheus) console.log('There is no Prometheus on the PATH: alerts are not observed.')
const { status } = spawnSync(
  process.execPath,
  [
    '--import=tsx',
    join(root, 'test/states/main.ts'),
    ...process.argv.slice(2),
    ...(hasPrometheus ? [] : ['--no-alerts']),
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
