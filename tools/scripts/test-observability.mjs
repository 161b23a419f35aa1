// npm run test:observability: tests the alert rules and dashboards of deploy/observability on a
// real Prometheus that scrapes a running Intake under load; about five minutes.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

const missing = ['prometheus', 'promtool'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
)
if (missing.length > 0) {
  console.error(`There is no ${missing.join(' and no ')} on the PATH. On Debian or Ubuntu:
apt-get install prometheus, then stop and disable its service, which this does not use.`)
  process.exit(1)
}

await bootstrap()
const tap = spawn(
  join(root, 'node_modules/.bin/tap'),
  ['--reporter=tap', 'test/observability/real-run.ts'],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tap.kill(signal))
tap.once('exit', (code) => {
  process.exitCode = code ?? 1
})
