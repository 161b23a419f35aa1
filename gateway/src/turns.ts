import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /**
   * Runs `work` when its turn has come; settles as it does.
   *
   * @param account whose work it is: accounts take turns, the work of each is done in its order
   */
  take<Result>(account: string, work: () => Result): Promise<Result>
}

/** Work up to this time is followed by the next at once. */
const shortMs = 5
const pauseMsMax = 200

/**
 * Lets long pieces of work hold the event loop one at a time, and after each gives the loop to others for
 * as long as the piece took: they get half of it. However much work one account has, another one waits
 * for one piece of it.
 */
export function createTurns(): Turns {
  /** By account; the first one is next. */
  const queues = new Map<string, (() => void)[]>()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let work = next(); work !== undefined; work = next()) {
      await immediate()
      const from = performance.now()
      work()
      const ms = performance.now() - from
      if (ms > shortMs) await pause(Math.min(ms, pauseMsMax))
    }
    isRunning = false
  }

  function next(): (() => void) | undefined {
    for (const [account, queue] of queues) {
      const work = queue.shift()
      queues.delete(account)
      if (queue.length > 0) queues.set(account, queue)
      return work
    }
    return undefined
  }

  return {
    take(account, work) {
      return new Promise((resolve, reject) => {
        const settle = () => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        }
        const queue = queues.get(account)
        if (queue === undefined) queues.set(account, [settle])
        else queue.push(settle)
        if (!isRunning) void run()
      })
    },
  }
}
