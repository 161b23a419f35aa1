import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import type { Bench } from '../bench.ts'
import { freeze } from '../freeze.ts'
import { measureRound } from '../measure.ts'
import { createOwner } from '../owner.ts'
import { startProcess, type BenchProcess } from '../process.ts'
import type { Variant } from '../variants.ts'

const onLinux = { skip: process.platform === 'linux' ? false : 'the bench needs Linux' }

/** The state of a process: `R` running, `S` asleep, `T` stopped; undefined if it is gone. */
function stateOf(pid: number): string | undefined {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0]
    // A zombie has ended, too.
    return state === 'Z' ? undefined : state
  } catch {
    return undefined
  }
}

/**
 * Waits until a process has the state, which it reaches a moment after the signal. If it never
 * does, the test times out.
 */
const untilState = async (pid: number, state: string | undefined) => {
  await until(`its state is ${state}`, () => stateOf(pid) === state)
}

t.test('an owner stops everything, the latest first, even if one fails to stop', async (t) => {
  const ended: number[] = []
  const owner = createOwner()
  owner.add(async () => ended.push(1))
  owner.add(() => Promise.reject(new Error('expected by the test')))
  owner.add(async () => ended.push(3))
  const errors = t.capture(console, 'error')
  await Promise.all([owner.end(), owner.end()])
  t.same(ended, [3, 1])
  t.equal(owner.signal.aborted, true)
  t.equal(errors().length, 1)
})

t.test('a process is up when it prints so, and a frozen one can be stopped', onLinux, async (t) => {
  const owner = createOwner()
  t.teardown(() => owner.end())
  const options = { name: 'it', env: {}, owner, logFile: join(t.testdir({}), 'it.log'), up: /^up$/ }
  const script = 'echo up; exec sleep 60'
  const child = await startProcess({ ...options, command: 'sh', args: ['-c', script] })
  freeze([child])
  await untilState(child.pid, 'T')
  const elapsedMs = startStopwatch(t)
  await child.stop()
  t.equal(stateOf(child.pid), undefined)
  t.ok(elapsedMs() < 10_000, 'not only by the SIGKILL after a minute')
  await t.rejects(
    startProcess({ ...options, command: 'sh', args: ['-c', 'echo no luck'] }),
    /it exited with 0 before it was up:\nno luck/,
  )
})

t.test(
  'a frozen process is killed when its parent is gone, even by SIGKILL',
  onLinux,
  async (t) => {
    const starter = `
    import { createOwner } from ${JSON.stringify(new URL('../owner.ts', import.meta.url))}
    import { startProcess } from ${JSON.stringify(new URL('../process.ts', import.meta.url))}
    const child = await startProcess({
      name: 'it', env: {}, owner: createOwner(), logFile: '/dev/null', up: /up/,
      command: 'sh', args: ['-c', 'echo up; exec sleep 60'],
    })
    process.kill(child.pid, 'SIGSTOP')
    console.log(child.pid)
    setInterval(() => {}, 1_000)`
    const parent = spawn(
      process.execPath,
      ['--import=tsx', '--conditions=intake:source', '--input-type=module', '-e', starter],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    await untilState(pid, 'T')
    parent.kill('SIGKILL')
    await untilState(pid, undefined)
    t.equal(stateOf(pid), undefined)
  },
)

t.test('workers that were frozen for a load are thawed if it fails', onLinux, async (t) => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const worker = { name: 'worker', pid: child.pid } as BenchProcess
  const variant = {
    name: 'intake',
    ports: [],
    gateways: [],
    workers: [worker],
  } as unknown as Variant
  const none = { pid: process.pid }
  const bench = {
    services: { redis: none, clickhouse: none, s3: none, apiKey: '' },
    generator: {
      pid: process.pid,
      async run() {
        await untilState(worker.pid, 'T')
        throw new Error('no load')
      },
    },
  } as unknown as Bench
  const demand = {
    loop: 'closed',
    connections: 1,
    seconds: 1,
    requests: { kind: 'log', size: 1_300 },
  } as const
  await t.rejects(measureRound(bench, variant, demand, { workersLater: true }), /no load/)
  await untilState(worker.pid, 'S')
})
