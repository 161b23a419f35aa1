import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises'
import { createRoundRobin } from './round-robin.ts'

export interface Turns {
  /**
   * Runs a piece of work of a few milliseconds when its turn has come; settles as it does.
   *
   * @param account whose work it is: accounts take turns, the work of each is done in its order
   */
  take: TakeTurn
  /** The same for a piece that may take a tenth of a second: short ones do not queue behind it. */
  takeLong: TakeTurn
}

type TakeTurn = <Result>(account: string, work: () => Result) => Promise<Result>

/** Work up to this time is followed by the next at once. */
const shortMs = 5
const pauseMsMax = 200

/**
 * Lets long pieces of work hold the event loop one at a time, and after each gives the loop to others for
 * as long as the piece took: they get half of it. However much work one account has, another one waits
 * for one piece of it.
 */
export function createTurns(): Turns {
  return { take: createQueue(), takeLong: createQueue() }
}

function createQueue(): TakeTurn {
  const waiting = createRoundRobin<() => void>()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let work = waiting.next(); work !== undefined; work = waiting.next()) {
      await immediate()
      const from = performance.now()
      work()
      const ms = performance.now() - from
      if (ms > shortMs) await pause(Math.min(ms, pauseMsMax))
    }
    isRunning = false
  }

  return (account, work) =>
    new Promise((resolve, reject) => {
      const settle = () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      waiting.add(account, settle)
      if (!isRunning) void run()
    })
}
