// npm run test:coverage: measures, for each application and package, how much of its code its own
// tests execute; takes about ten minutes. Code that is executed only by tests in test/, such as the
// fault and hostile suites, counts as not executed. Fails if the coverage is below the minimum.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

/** The minimum, in percent (see CONTRIBUTING.md). */
const floor = { lines: 95, branches: 90 }
const coverageDir = join(root, '.tap', 'v8')
const tests = '{gateway,worker,console,packages/*,clients/*,tools/*}/test/**/*.test.ts'

await bootstrap()
rmSync(coverageDir, { recursive: true, force: true })
const compiled = run('tsc', ['-b'])
const tested = run('tap', ['--reporter=./tools/scripts/test-reporter.mjs', tests], {
  NODE_V8_COVERAGE: coverageDir,
})
const counted = run('c8', [
  'report',
  `--temp-directory=${coverageDir}`,
  '--include={gateway,worker,console,packages/*,clients/*,tools/*}/src/**',
  '--exclude-after-remap',
  '--merge-async',
  '--reporter=text-summary',
  '--check-coverage',
  `--lines=${floor.lines}`,
  `--branches=${floor.branches}`,
  '--functions=0',
  '--statements=0',
])
rmSync(coverageDir, { recursive: true, force: true })
process.exitCode = compiled === 0 && tested === 0 && counted === 0 ? 0 : 1

function run(command, args, extraEnv = {}) {
  const path = join(root, 'node_modules', '.bin')
  const env = { ...process.env, ...extraEnv, PATH: `${path}:${process.env.PATH}` }
  return spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
    .status
}
