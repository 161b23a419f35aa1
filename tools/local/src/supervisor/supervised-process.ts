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

const retryMs = 2_000

export function superviseProcess<R extends Running>(
  options: SupervisedProcessOptions<R>,
): SupervisedProcess<R> {
  const { name, launch, say, onChange } = options
  const ending = new AbortController()
  const { signal } = ending
  let current: R | undefined
  let starting: Promise<R> | undefined
  let keeping: Promise<void> | undefined

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
    for (let running: R | undefined = first; running !== undefined;) {
      const exit = await running.exited
      current = undefined
      if (signal.aborted) return
      say(`${name} died (${describeExit(exit)}): restarting it.`)
      onChange()
      running = await restart()
      onChange()
    }
  }

  /** Tries until it succeeds, and says each reason once. Resolves to undefined if `stop` is called. */
  async function restart(): Promise<R | undefined> {
    for (let said: string | undefined; !signal.aborted;) {
      try {
        const running = await launchOnce(true)
        if (said !== undefined) say(`${name} is running again.`)
        return running
      } catch (error) {
        const reason = messageOf(error)
        if (!signal.aborted && reason !== said) say(`${name} could not be restarted: ${reason}`)
        said = reason
        await delay(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
    return undefined
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
