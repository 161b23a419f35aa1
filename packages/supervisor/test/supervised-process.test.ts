import t from 'tap'

import type { Exit } from '../src/child.ts'
import { superviseProcess, type Launch, type Running } from '../src/supervised-process.ts'

/** Launches that are processes in name only: the test decides when they are ready and when they end. */
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

  const part = superviseProcess({
    name: 'Gateway',
    launch,
    say: (line) => lines.push(line),
    onChange: () => changes++,
    backoffMs: (attempt) => attempt,
  })
  /** Lets the launch that waits succeed or fail; waits for it to begin. */
  async function settle(error?: Error) {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    waiting.shift()?.(error)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { part, settle, started, launches, lines, changes: () => changes }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((it) => (resolve = it))
  return { promise, resolve }
}

t.test('a part that dies is started again and says so in one line', async (t) => {
  const { part, settle, started, launches, lines, changes } = fakeLaunches()
  const start = part.start()
  await settle()
  await start
  t.equal(part.pid(), 100)

  started[0]?.end({ code: null, signal: 'SIGKILL' })
  await settle()
  t.equal(part.pid(), 101)
  t.strictSame(lines, ['Gateway died (signal SIGKILL): starting it again.'])
  t.equal(changes(), 2, 'told when it died and when it was back')
  t.strictSame(
    launches.map(({ again }) => again),
    [false, true],
  )
  await part.stop()
})

t.test('a part that cannot be started again is tried until it can', async (t) => {
  const { part, settle, started, lines } = fakeLaunches()
  const start = part.start()
  await settle()
  await start
  started[0]?.end({ code: 1, signal: null })
  await settle(new Error('no memory.'))
  t.equal(part.pid(), null)
  await settle(new Error('no memory.'))
  await settle()
  t.equal(part.pid(), 101)
  t.strictSame(lines, [
    'Gateway died (exit code 1): starting it again.',
    'Gateway could not be started again: no memory.',
    'Gateway is running again.',
  ])
  await part.stop()
})

t.test('a part that dies over and over says so once a minute', async (t) => {
  const { part, settle, started, lines } = fakeLaunches()
  const start = part.start()
  await settle()
  await start
  for (let death = 0; death < 20; death++) {
    started[death]?.end({ code: 1, signal: null })
    await settle()
  }
  t.equal(part.pid(), 120)
  t.strictSame(lines, ['Gateway died (exit code 1): starting it again.'])
  await part.stop()
})

t.test('a part that was never ready is not started again', async (t) => {
  const { part, settle, launches } = fakeLaunches()
  const start = t.rejects(part.start(), { message: 'port taken' })
  await settle(new Error('port taken'))
  await start
  await part.stop()
  t.equal(launches.length, 1)
})

t.test('a stopped part stays stopped, silently', async (t) => {
  const { part, settle, launches, lines } = fakeLaunches()
  const start = part.start()
  await settle()
  await start
  await part.stop()
  await part.stop()
  t.equal(part.pid(), null)
  t.equal(launches.length, 1)
  t.strictSame(lines, [])
})

t.test('stopping ends a launch that is under way', async (t) => {
  const { part, settle, started, launches, lines } = fakeLaunches()
  const start = part.start()
  await settle()
  await start
  started[0]?.end({ code: 0, signal: null })
  while (launches.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await part.stop() // while it is being started again
  t.equal(started.length, 1)
  t.strictSame(lines, ['Gateway died (exit code 0): starting it again.'])

  const other = fakeLaunches()
  const refused = t.rejects(other.part.start(), { name: 'AbortError' })
  await other.part.stop() // while it is being started for the first time
  await refused
})
