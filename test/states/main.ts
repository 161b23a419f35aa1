// `npm run test:states` runs this file; see tools/scripts/test-suite.mjs.
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { AppProcess } from '@intake/test-kit/app-process'
import { startPrometheus, type Prometheus } from '../observability/prometheus.ts'
import { createObserver, isOpen, secondsUntil, ways, type Way } from './observe.ts'
import { startStage, type Stage } from './stage.ts'
import { states, type Process, type State } from './states.ts'

const { values } = parseArgs({
  options: {
    /** The problem codes of the states to observe, separated by commas; default: all. */
    only: { type: 'string' },
    /** Does not observe alerts, for a machine without Prometheus. */
    'no-alerts': { type: 'boolean', default: false },
  },
})
const only = values.only?.split(',')
const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
/** The time within which a state must be seen. */
const limitSeconds = 15
/**
 * How long to wait for the end of a state that an earlier case caused. If the cause was an event,
 * the state lasts for five minutes after the event.
 */
const overSeconds = 400

interface Result {
  /** The ways in which the state can be seen. */
  possible: readonly Way[]
  /** For each way, the seconds until the state was seen; undefined if that took too long. */
  seconds: Partial<Record<Way, number | undefined>>
}

const dir = mkdtempSync(join(tmpdir(), 'intake-states-'))
let stage: Stage | undefined
let prometheus: Prometheus | undefined
const results: Result[] = []
try {
  stage = await startStage({ root, dataDir: dir })
  const target = (name: Process) => [new URL(appOf(name, stage!).adminUrl()).host]
  if (!values['no-alerts']) {
    prometheus = await startPrometheus({
      dir: join(dir, 'prometheus'),
      targets: {
        'intake-gateway': target('gateway'),
        'intake-worker': target('worker'),
        'intake-console': target('console'),
      },
    })
  }
  for (const state of states) {
    if (only !== undefined && !only.includes(state.code)) continue
    const result = await measure(state, stage)
    results.push(result)
    const shown = ways.map((way) => `${way} ${result.seconds[way]?.toFixed(1) ?? '-'} s`)
    console.log(
      `${isSeen(result) ? 'ok  ' : 'FAIL'} ${state.code} (${state.seenBy}, ${state.cause}): ${shown.join(', ')}`,
    )
  }
} finally {
  await prometheus?.stop()
  await stage?.close()
  await rm(dir, { recursive: true, force: true, maxRetries: 9 })
}

const failed = results.filter((result) => !isSeen(result)).length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 && results.length > 0 ? 0 : 1)

function appOf(name: Process, { cluster }: Stage): AppProcess {
  const { gateways, workers, consoles } = cluster
  return { gateway: gateways, worker: workers, console: consoles }[name][0]!
}

async function measure(state: State, on: Stage): Promise<Result> {
  const { code, seenBy } = state
  const possible = state.ways ?? ways
  const app = appOf(seenBy, on)
  const before = createObserver({ app, code, prometheus })
  const isOver = async (way: Way) => !(await before[way]())
  const over = await secondsUntil(async () => {
    const waits = possible.filter((way) => way === 'status' || way === 'alert').map(isOver)
    return !isOpen(app, code) && (await Promise.all(waits)).every(Boolean)
  }, overSeconds)
  if (over === undefined) {
    console.log(`${code} was present before it was brought about`)
    return { possible, seconds: {} }
  }
  const observer = createObserver({ app, code, prometheus })
  try {
    await state.begin(on)
    const seconds = await Promise.all(
      possible.map(async (way) => [way, await secondsUntil(observer[way], limitSeconds)] as const),
    )
    return { possible, seconds: Object.fromEntries(seconds) }
  } finally {
    await state.end(on)
  }
}

function isSeen({ possible, seconds }: Result): boolean {
  return possible.every((way: Way) => {
    if (way === 'alert' && prometheus === undefined) return true
    return seconds[way] !== undefined
  })
}
