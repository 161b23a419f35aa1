// npm run test:tools: drivers of others ask ClickHouse as an analyst, against what `npm start` runs,
// with nothing but host, port, user and password. They are installed in test/tools/.cache from their
// registries, each in its newest release; one that cannot be installed is skipped, with a line that
// says so. npm run test:tools -- NAME … runs only those of test/tools/install.ts. Takes about five
// minutes. The last line is `N passed, N failed`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

await bootstrap()
const tap = spawn(
  join(root, 'node_modules/.bin/tap'),
  ['--reporter=tap', '--timeout=3600', 'test/tools/tools.ts'],
  {
    cwd: root,
    env: { ...process.env, TOOLS: process.argv.slice(2).join(',') },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
let output = ''
tap.stdout.on('data', (chunk) => {
  process.stdout.write(chunk)
  output = (output + String(chunk)).slice(-4_096)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tap.kill(signal))
tap.once('close', (code) => {
  const [, summary = ''] = /^# \{ (total.*) \}$/m.exec(output) ?? []
  const count = (what) => Number(new RegExp(`${what}: (\\d+)`).exec(summary)?.[1] ?? 0)
  // A failed run that printed no count is taken as one failure.
  const failed = Math.max(count('fail'), code === 0 ? 0 : 1)
  console.log(`${count('pass')} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
})
