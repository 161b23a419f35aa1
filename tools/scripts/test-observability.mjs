// npm run test:observability: tests the alert rules and dashboards of deploy/observability on a
// real Prometheus that scrapes a running Intake under load; about five minutes.
import { spawnSync } from 'node:child_process'
import { bootstrap } from './bootstrap.mjs'
import { runTap } from './run-tap.mjs'

const missing = ['prometheus', 'promtool'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
)
if (missing.length > 0) {
  console.error(`There is no ${missing.join(' and no ')} on the PATH. On Debian or Ubuntu:
apt-get install prometheus, then stop and disable its service, which this does not use.`)
  process.exit(1)
}

await bootstrap()
const { failed } = await runTap(['test/observability/real-run.ts'])
process.exitCode = failed === 0 ? 0 : 1
