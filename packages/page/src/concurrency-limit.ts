import { PageError } from './page-error.ts'

/** Work that takes memory: so much of it at once, and so much that waits. */
export interface ConcurrencyLimit {
  /**
   * Waits for its turn; resolves to the function that ends it.
   *
   * @throws {PageError} 503, when too many wait
   */
  enter(): Promise<() => void>
}

export function createConcurrencyLimit({
  atOnce,
  waitingMax,
}: {
  atOnce: number
  waitingMax: number
}): ConcurrencyLimit {
  const waiting: (() => void)[] = []
  let active = 0

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) active--
    else next()
  }

  return {
    async enter() {
      if (active >= atOnce) {
        if (waiting.length >= waitingMax) throw new PageError(503, 'Too many requests at once.')
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else {
        active++
      }
      let hasLeft = false
      return () => {
        if (!hasLeft) leave()
        hasLeft = true
      }
    },
  }
}
