// npm run test:observability: checks the alert rules and dashboards of deploy/observability on a
// real Prometheus that scrapes a running Intake under load; about five minutes. With -- --pictures
// it renews the pictures of the dashboards in docs/images (with Chromium).
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
const pictures = process.argv.includes('--pictures')
const tap = spawn(
  join(root, 'node_modules/.bin/tap'),
  ['--reporter=tap', 'test/observability/real-run.ts'],
  {
    cwd: root,
    env: { ...process.env, ...(pictures && { PICTURES: join(root, 'docs/images') }) },
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tap.kill(signal))
tap.once('exit', (code) => {
  process.exitCode = code ?? 1
})
