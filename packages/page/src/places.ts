import { PageError } from './page-error.ts'

/** Work that takes memory: so much of it at once, and so much that waits. */
export interface Places {
  /**
   * Resolves to the function that gives the place back, when there is one.
   *
   * @throws {PageError} 503, when too many wait
   */
  take(): Promise<() => void>
}

export function createPlaces({
  atOnce,
  waitingMax,
}: {
  atOnce: number
  waitingMax: number
}): Places {
  const waiting: (() => void)[] = []
  let taken = 0

  function giveBack(): void {
    const next = waiting.shift()
    if (next === undefined) taken--
    else next()
  }

  return {
    async take() {
      if (taken >= atOnce) {
        if (waiting.length >= waitingMax) throw new PageError(503, 'Too many requests at once.')
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else {
        taken++
      }
      let isHeld = true
      return () => {
        if (isHeld) giveBack()
        isHeld = false
      }
    },
  }
}
