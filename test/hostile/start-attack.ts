import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Facts } from './hostile-case.ts'

export interface Order {
  caseId: string
  attackMs: number
  port: number
  apiKey: string
}

export type Outcome = { facts: Facts } | { failed: string }

export interface Attack {
  /** What it did and saw; its connections are open until `end`. */
  outcome: Promise<Outcome>
  /** Resolves when its process is gone. */
  end(): Promise<void>
}

/** The longest time that an attack may wait for responses after it has sent the last request. */
const waitsMs = 50_000
const source = import.meta.url.endsWith('.ts') ? './attacker.ts' : './attacker.js'

/** Starts the attack of a case in a process of its own. */
export function startAttack(order: Order): Attack {
  const child = fork(new URL(source, import.meta.url))
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const ended = gone.then(([code, signal]): Outcome => ({
    failed: `its process ended with ${code ?? signal}`,
  }))
  const told = once(child, 'message').then(([outcome]) => outcome as Outcome)
  child.send(order)
  const timer = setTimeout(() => child.kill('SIGKILL'), order.attackMs + waitsMs)

  return {
    outcome: Promise.race([told, ended]).finally(() => clearTimeout(timer)),
    async end() {
      clearTimeout(timer)
      child.kill('SIGKILL')
      await gone
    },
  }
}
