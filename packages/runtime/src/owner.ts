/** Ends everything that was started, once, in reverse order. */
export interface Owner {
  /** A function that is added after the end is called at once. */
  add(end: () => unknown): void
  /** Resolves when all have ended. If one fails, the others are ended all the same. */
  end(): Promise<void>
}

/** @param onError called when something could not be ended */
export function createOwner(onError: (error: unknown) => void): Owner {
  const ends: (() => unknown)[] = []
  let ending: Promise<void> | undefined
  let hasEnded = false

  async function endAll(): Promise<void> {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      try {
        await end()
      } catch (error) {
        onError(error)
      }
    }
    hasEnded = true
  }

  return {
    add(end) {
      ends.push(end)
      if (hasEnded) void endAll()
    },
    end: () => (ending ??= endAll()),
  }
}
