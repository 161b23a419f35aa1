import type { Code } from './code.ts'
import type { Coverage } from './coverage.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'

/** What all parts of one simulation run share. */
export interface World {
  code: Code
  random: Random
  scheduler: Scheduler
  network: Network
  coverage: Coverage
  /** Returns a number that is different in every call. */
  serial(): number
  /** The true time, which Redis's clock shows, in milliseconds since 1970. */
  wallMs(): number
}

/** A process of the system under test. */
export interface Part {
  readonly process: Process
  /** Starts the process with empty memory. Its data on disk is kept. */
  start(): void
  /** Applies the crash to the data; called at the moment of the crash. */
  crash?(): void
  /** Ends the work in order, as on SIGTERM. */
  close?(): Promise<void>
}

export function createProcess(name: string): Process {
  return { name, state: 'running', life: 0 }
}
