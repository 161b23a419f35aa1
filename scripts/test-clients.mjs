// npm run test:clients: builds the clients for senders, each with its own tools, and runs them
// against a real gateway; takes some minutes. A part whose tools are not on the PATH is skipped,
// with a line that says so. npm run test:clients -- NAME … runs only the named parts. The last line
// is `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

/** The parts by name: the tools that each needs, and its tests. */
const parts = {
  'generated-kotlin': {
    tools: ['java', 'mvn'],
    tests: ['test/clients/generated-kotlin.ts'],
  },
  kotlin: {
    tools: ['java', 'mvn'],
    tests: ['test/clients/kotlin-client.ts'],
  },
  // The environment variable SWIFT can name another command.
  swift: {
    tools: [(process.env.SWIFT ?? 'swift').split(' ')[0]],
    tests: ['test/clients/swift.ts'],
  },
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in parts))
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`)
  process.exit(1)
}

await bootstrap()
let passed = 0
let failed = 0
const skipped = []
for (const [name, { tools, tests }] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const missing = tools.filter((tool) => !isInstalled(tool))
  if (missing.length > 0) skipped.push(`${name}: there is no ${missing.join(' and no ')}`)
  else await run(name, tests)
}
for (const line of skipped) console.log(`SKIPPED ${line}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function isInstalled(tool) {
  return spawnSync('which', [tool], { stdio: 'ignore' }).status === 0
}

function run(name, tests) {
  console.log(`> ${name}`)
  const tap = spawn(join(root, 'node_modules/.bin/tap'), ['--reporter=tap', ...tests], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const passOn = (signal) => tap.kill(signal)
  process.on('SIGINT', passOn).on('SIGTERM', passOn)
  let output = ''
  tap.stdout.on('data', (chunk) => {
    process.stdout.write(chunk)
    output = (output + String(chunk)).slice(-4_096)
  })
  return new Promise((resolve) => {
    tap.once('close', (code) => {
      process.off('SIGINT', passOn).off('SIGTERM', passOn)
      const [, summary = ''] = /^# \{ (total.*) \}$/m.exec(output) ?? []
      const count = (what) => Number(new RegExp(`${what}: (\\d+)`).exec(summary)?.[1] ?? 0)
      passed += count('pass')
      // A run that failed but printed no count counts as one failure.
      failed += Math.max(count('fail'), code === 0 ? 0 : 1)
      resolve(undefined)
    })
  })
}
