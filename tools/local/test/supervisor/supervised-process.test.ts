import t from 'tap'
import { until } from '@intake/test-kit/until'

import type { Exit } from '../../src/supervisor/child.ts'
import {
  superviseProcess,
  type Launch,
  type Running,
} from '../../src/supervisor/supervised-process.ts'

/** Launches fake processes. The test decides when each becomes ready and when it ends. */
function fakeLaunches() {
  const started: (Running & { end(exit: Exit): void })[] = []
  const waiting: ((ready: Error | undefined) => void)[] = []
  const launches: Launch[] = []
  const lines: string[] = []
  let changes = 0

  function launch(options: Launch) {
    launches.push(options)
    return new Promise<Running>((resolve, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason as Error))
      waiting.push((error) => (error === undefined ? resolve(running()) : reject(error)))
    })
  }

  function running() {
    const { promise, resolve } = withResolvers<Exit>()
    const process = {
      pid: 100 + started.length,
      exited: promise,
      end: resolve,
      kill: () => resolve({ code: null, signal: 'SIGKILL' }),
      async stop() {
        resolve({ code: 0, signal: null })
      },
    }
    started.push(process)
    return process
  }

  const supervised = superviseProcess({
    name: 'Gateway',
    launch,
    say: (line) => lines.push(line),
    onChange: () => changes++,
    backoffMs: (attempt) => attempt,
  })
  /** Waits until a launch has begun. Then lets it succeed, or fail with `error` if it is given. */
  async function settle(error?: Error) {
    await until('it waits', () => waiting.length > 0)
    waiting.shift()?.(error)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { supervised, settle, started, launches, lines, changes: () => changes }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((it) => (resolve = it))
  return { promise, resolve }
}

t.test('a process that dies is restarted and reported in one line', async (t) => {
  const { supervised, settle, started, launches, lines, changes } = fakeLaunches()
  const start = supervised.start()
  await settle()
  await start
  t.equal(supervised.pid(), 100)

  started[0]?.end({ code: null, signal: 'SIGKILL' })
  await settle()
  t.equal(supervised.pid(), 101)
  t.strictSame(lines, ['Gateway died (signal SIGKILL): restarting it.'])
  t.equal(changes(), 2, 'called when it died and when it was running again')
  t.strictSame(
    launches.map(({ again }) => again),
    [false, true],
  )
  await supervised.stop()
})

t.test('a failing restart is repeated until it succeeds', async (t) => {
  const { supervised, settle, started, lines } = fakeLaunches()
  const start = supervised.start()
  await settle()
  await start
  started[0]?.end({ code: 1, signal: null })
  await settle(new Error('no memory.'))
  t.equal(supervised.pid(), null)
  await settle(new Error('no memory.'))
  await settle()
  t.equal(supervised.pid(), 101)
  t.strictSame(lines, [
    'Gateway died (exit code 1): restarting it.',
    'Gateway could not be restarted: no memory.',
    'Gateway is running again.',
  ])
  await supervised.stop()
})

t.test('a process that dies repeatedly is reported once a minute', async (t) => {
  const { supervised, settle, started, lines } = fakeLaunches()
  const start = supervised.start()
  await settle()
  await start
  for (let death = 0; death < 20; death++) {
    started[death]?.end({ code: 1, signal: null })
    await settle()
  }
  t.equal(supervised.pid(), 120)
  t.strictSame(lines, ['Gateway died (exit code 1): restarting it.'])
  await supervised.stop()
})

t.test('a process that was never ready is not restarted', async (t) => {
  const { supervised, settle, launches } = fakeLaunches()
  const start = t.rejects(supervised.start(), { message: 'port taken' })
  await settle(new Error('port taken'))
  await start
  await supervised.stop()
  t.equal(launches.length, 1)
})

t.test('a stopped process is not started again, and nothing is printed', async (t) => {
  const { supervised, settle, launches, lines } = fakeLaunches()
  const start = supervised.start()
  await settle()
  await start
  await supervised.stop()
  await supervised.stop()
  t.equal(supervised.pid(), null)
  t.equal(launches.length, 1)
  t.strictSame(lines, [])
})

t.test('stopping aborts a launch in progress', async (t) => {
  const { supervised, settle, started, launches, lines } = fakeLaunches()
  const start = supervised.start()
  await settle()
  await start
  started[0]?.end({ code: 0, signal: null })
  await until('it is launched again', () => launches.length >= 2)
  await supervised.stop() // during the restart
  t.equal(started.length, 1)
  t.strictSame(lines, ['Gateway died (exit code 0): restarting it.'])

  const other = fakeLaunches()
  const refused = t.rejects(other.supervised.start(), { name: 'AbortError' })
  await other.supervised.stop() // while it is starting for the first time
  await refused
})
