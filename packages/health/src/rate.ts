import { systemClock, type Clock } from '@intake/runtime'

const windowSeconds = 15

export function createRate(clock: Clock = systemClock) {
  /** One for each second of the window and the current one; `seconds[i]` is that of `counts[i]`. */
  const counts = new Float64Array(windowSeconds + 1)
  const seconds = new Float64Array(windowSeconds + 1).fill(-1)

  return {
    add(count: number): void {
      const second = Math.floor(clock.now() / 1_000)
      const index = second % counts.length
      if (seconds[index] !== second) {
        seconds[index] = second
        counts[index] = 0
      }
      counts[index]! += count
    },
    /** Events per second over the last 15 complete seconds. */
    perSecond(): number {
      const now = Math.floor(clock.now() / 1_000)
      let sum = 0
      for (const [index, second] of seconds.entries()) {
        if (second < now && second >= now - windowSeconds) sum += counts[index]!
      }
      return sum / windowSeconds
    },
  }
}
