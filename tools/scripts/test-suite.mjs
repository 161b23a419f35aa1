// node tools/scripts/test-suite.mjs NAME …: builds, and runs a long suite of test/ on real processes.
// Further arguments go to the suite. docs/proofs.md says what each suite proves.
import { spawnSync } from 'node:child_process'
import { bootstrap, run } from './bootstrap.mjs'

const tap = ['node_modules/.bin/tap', '--reporter=tap']
const tsx = [process.execPath, '--import=tsx']

/** By name: what is compiled, the program that is run, and the programs that it needs. */
const suites = {
  'clickhouse-cluster': { build: ['.'], command: [...tap, 'test/clickhouse-cluster/main.ts'] },
  cluster: { build: ['test/kit'], command: [...tsx, 'test/cluster/main.ts'] },
  faults: { build: ['test/faults'], command: [process.execPath, 'test/faults/dist/main.js'] },
  hostile: {
    build: ['test/hostile'],
    command: [process.execPath, 'test/hostile/dist/hostile/main.js'],
  },
  observability: {
    build: ['.'],
    command: [...tap, 'test/observability/real-run.ts'],
    needs: ['prometheus', 'promtool'],
  },
  states: { build: ['test/kit'], command: [...tsx, 'test/states/main.ts'] },
}

const [name, ...args] = process.argv.slice(2)
const { build, command, needs = [] } = suites[name]
const isMissing = (program) => spawnSync(program, ['--version']).status !== 0
const missing = needs.filter(isMissing)
if (missing.length > 0) {
  console.error(`There is no ${missing.join(' and no ')} on the PATH. On Debian or Ubuntu:
apt-get install prometheus, then stop and disable its service, which this does not use.`)
  process.exit(1)
}
if (name === 'states' && isMissing('prometheus')) {
  console.log('There is no Prometheus on the PATH: alerts are not observed.')
  args.push('--no-alerts')
}

await bootstrap(...build)
const [program, ...given] = command
process.exitCode = await run(program, [...given, ...args], { stdio: 'inherit' })
