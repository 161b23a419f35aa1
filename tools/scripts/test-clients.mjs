// npm run test:clients: builds the clients for senders, each with its own tools, and runs them
// against a real gateway; takes some minutes. A part whose tools are not on the PATH is skipped,
// with a line that says so. npm run test:clients -- NAME … runs only the named parts. The last line
// is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { bootstrap } from './bootstrap.mjs'
import { report, runTap } from './run-tap.mjs'

/** The parts by name: the tools that each needs, and its tests. */
const parts = {
  'generated-kotlin': {
    tools: ['java', 'mvn'],
    tests: ['test/clients/generated-kotlin.ts'],
  },
  kotlin: {
    tools: ['java', 'mvn'],
    tests: ['test/clients/kotlin-client.ts', 'test/clients/kotlin-release.ts'],
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
const counts = []
const skipped = []
for (const [name, { tools, tests }] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const missing = tools.filter((tool) => !isInstalled(tool))
  if (missing.length > 0) skipped.push(`${name}: there is no ${missing.join(' and no ')}`)
  else {
    console.log(`> ${name}`)
    counts.push(await runTap(tests))
  }
}
report(counts, skipped)

function isInstalled(tool) {
  return spawnSync('which', [tool], { stdio: 'ignore' }).status === 0
}
