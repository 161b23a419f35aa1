import { setTimeout as delay } from 'node:timers/promises'

import { type Child, describeExit } from './child.ts'
import { messageOf } from './start-error.ts'

export type Running = Pick<Child, 'pid' | 'exited' | 'stop' | 'kill'>

export interface Launch {
  /** Aborts when the process must stop. `launch` must then leave no process and reject. */
  signal: AbortSignal
  /** Whether this is a restart: the process was ready before. */
  again: boolean
}

export interface SupervisedProcessOptions<R extends Running> {
  name: string
  launch(launch: Launch): Promise<R>
  say(line: string): void
  /** Called after the process has died, and after it was restarted. */
  onChange(): void
}

/** A process that is restarted whenever it dies between `start` and `stop`. */
export interface SupervisedProcess<R extends Running = Running> {
  name: string
  /** Resolves when the process is ready for the first time; rejects when the first start fails. */
  start(): Promise<R>
  /** Null while the process is not running. */
  pid(): number | null
  /** Resolves when no process is left and none will be started. May be called at any time. */
  stop(graceMs?: number): Promise<void>
  kill(): void
}

/** After such a run, restarts count from 0 again, and messages are shown again. */
const healthyMs = 30_000
/** The same message is shown once in this time, even if every restart fails. */
const sayAgainMs = 60_000

export function superviseProcess<R extends Running>(
  options: SupervisedProcessOptions<R>,
): SupervisedProcess<R> {
  const { name, launch, say, onChange } = options
  const ending = new AbortController()
  const { signal } = ending
  let current: R | undefined
  let starting: Promise<R> | undefined
  let keeping: Promise<void> | undefined
  /** When each message was last shown in the current series of failures. */
  const saidAt = new Map<'died' | 'failed', number>()

  function sayRarely(what: 'died' | 'failed', line: string) {
    if (performance.now() - (saidAt.get(what) ?? -Infinity) < sayAgainMs) return
    saidAt.set(what, performance.now())
    say(line)
  }

  async function launchOnce(again: boolean): Promise<R> {
    const running = await launch({ signal, again })
    if (signal.aborted) await running.stop()
    signal.throwIfAborted()
    current = running
    return running
  }

  async function start() {
    const running = await launchOnce(false)
    keeping = keep(running)
    return running
  }

  async function keep(first: R) {
    let attempt = 0
    for (let running: R | undefined = first; running !== undefined;) {
      const since = performance.now()
      const exit = await running.exited
      current = undefined
      if (signal.aborted) return
      if (performance.now() - since > healthyMs) {
        attempt = 0
        saidAt.clear()
      }
      sayRarely('died', `${name} died (${describeExit(exit)}): restarting it.`)
      onChange()
      running = undefined
      while (running === undefined && !signal.aborted) {
        running = await retry(attempt++)
      }
      if (running === undefined) return
      if (saidAt.delete('failed')) say(`${name} is running again.`)
      onChange()
    }
  }

  async function retry(attempt: number): Promise<R | undefined> {
    try {
      await delay(backoffMs(attempt), undefined, { signal })
      return await launchOnce(true)
    } catch (error) {
      if (!signal.aborted) {
        sayRarely('failed', `${name} could not be restarted: ${messageOf(error)}`)
      }
      return undefined
    }
  }

  return {
    name,
    start: () => (starting ??= start()),
    pid: () => current?.pid ?? null,
    async stop(graceMs) {
      ending.abort()
      await starting?.catch(() => undefined) // the caller of start handles the failure
      await current?.stop(graceMs)
      await keeping
    },
    kill: () => current?.kill(),
  }
}

/**
 * The pause before a restart, the first of which is number 0: none, then half a second, which
 * doubles up to ten seconds.
 */
function backoffMs(attempt: number) {
  return attempt === 0 ? 0 : Math.min(250 * 2 ** attempt, 10_000)
}
