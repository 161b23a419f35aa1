import { pause, systemClock, type Clock } from '@intake/runtime'
import { createRoundRobin } from './round-robin.ts'

export interface Turns {
  /**
   * Runs a piece of work that takes a few milliseconds, when it is the account's turn. Settles with
   * the result of the work.
   *
   * @param account the owner of the work: accounts take turns, and the work of each account runs in
   * order
   */
  take: TakeTurnOf
  /**
   * For work that may take a tenth of a second. It has a queue of its own: short work does not
   * wait.
   */
  takeLong: TakeTurnOf
  /**
   * For work in the thread pool, of which one piece runs at a time. More threads would take the CPU
   * from the event loop. The promise of the work must settle in any case.
   */
  takePooled: TakeTurnOf
}

type TakeTurnOf = <Result>(account: string, work: () => Result | Promise<Result>) => Promise<Result>

/** After a piece of work of at most this duration, the next piece starts at once. */
const shortMs = 5
const pauseMsMax = 200

/**
 * Creates a scheduler that runs pieces of work one at a time. After a long piece it pauses for as
 * long as the piece took, up to `pauseMsMax`, so that other tasks get half of the event loop's
 * time. Even if one account has queued much work, another account waits for only one piece of that
 * work.
 */
export function createTurns(clock: Clock = systemClock): Turns {
  return { take: createQueue(clock), takeLong: createQueue(clock), takePooled: createQueue() }
}

/** @param clock measures the work on the event loop; undefined for work in the thread pool */
function createQueue(clock?: Clock): TakeTurnOf {
  const waiting = createRoundRobin<() => Promise<void>>()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let work = waiting.next(); work !== undefined; work = waiting.next()) {
      if (clock === undefined) {
        await work()
        continue
      }
      await new Promise<void>((resolve) => clock.setImmediate(resolve))
      const from = clock.now()
      void work()
      const ms = clock.now() - from
      if (ms > shortMs) await pause(Math.min(ms, pauseMsMax), { clock })
    }
    isRunning = false
  }

  return (account, work) =>
    new Promise((resolve, reject) => {
      waiting.add(account, async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        }
      })
      if (!isRunning) void run()
    })
}
