import type { Coverage } from './coverage.ts'
import type { Design } from './design.ts'
import type { Network } from './network.ts'
import type { Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'

/** What every part of one run stands on. */
export interface World {
  design: Design
  random: Random
  scheduler: Scheduler
  network: Network
  coverage: Coverage
  /** Different in every call. */
  serial(): number
}

/** A process of the system under test. */
export interface Part {
  readonly process: Process
  /** Begins a life. What the part had in memory is gone, what it had on disk is there. */
  start(): void
  /** What the crash does to data, told at the moment of the crash. */
  crash?(): void
}

export function createProcess(name: string): Process {
  return { name, state: 'running', life: 0 }
}
