export type Owner = ReturnType<typeof createOwner>

/**
 * Collects functions that end what was started. Calls each of them once, in reverse order.
 *
 * @param onError called when something could not be ended
 */
export function createOwner(onError: (error: unknown) => void) {
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

  /** Adds a function to call at the end. If everything has already ended, it is called at once. */
  function add(end: () => unknown): void {
    ends.push(end)
    if (hasEnded) void endAll()
  }

  return {
    add,
    /** Adds `part.close` to the functions to call at the end, and returns the part. */
    own<Part extends { close(): unknown }>(part: Part): Part {
      add(() => part.close())
      return part
    },
    /** Resolves when everything has ended. If one of the functions fails, the others still run. */
    end: () => (ending ??= endAll()),
  }
}
