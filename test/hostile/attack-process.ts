import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Facts } from './hostile-case.ts'

export interface Order {
  caseId: string
  attackMs: number
  port: number
  apiKey: string
}

export type AttackResult = { facts: Facts } | { failed: string }

export interface AttackProcess {
  /**
   * Starts the attack of a case; resolves to its outcome. The connections of the attack remain open
   * until `end` is called.
   */
  attack(order: Order): Promise<AttackResult>
  /** Kills the process; resolves when it has exited. */
  end(): Promise<void>
}

/**
 * How much longer the process may run than the attack. The process waits for responses after the
 * last request.
 */
const spareMs = 60_000
/** The program of the process and its Node arguments: the source in a test, else the built code. */
const [source, execArgv] = import.meta.url.endsWith('.ts')
  ? ['./attacker.ts', ['--import=tsx', '--conditions=intake:source']]
  : ['./attacker.js', []]

/** Starts a process for one attack. The process loads its code while the gateway starts. */
export function startAttackProcess(): AttackProcess {
  const child = fork(new URL(source, import.meta.url), { execArgv })
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const ended = gone.then(([code, signal]): AttackResult => ({
    failed: `its process exited with ${code ?? signal}`,
  }))
  const told = once(child, 'message').then(([outcome]) => outcome as AttackResult)
  let timer: NodeJS.Timeout | undefined

  return {
    attack(order) {
      child.send(order)
      timer = setTimeout(() => child.kill('SIGKILL'), order.attackMs + spareMs)
      return Promise.race([told, ended]).finally(() => clearTimeout(timer))
    },
    async end() {
      clearTimeout(timer)
      child.kill('SIGKILL')
      await gone
    },
  }
}
