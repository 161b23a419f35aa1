/**
 * Gathers the rows of many callers, each as one line of JSON, and stores them together.
 *
 * @param options.rowsMax stores the rows at once when so many have been gathered
 * @param options.lingerMs stores them so long after the first of them arrived
 * @returns a function that adds rows, and resolves when they are stored
 */
export function gather(options: {
  rowsMax: number
  lingerMs: number
  store: (lines: string[]) => Promise<unknown>
}): (lines: readonly string[]) => Promise<unknown> {
  let gathered: string[] = []
  let stored: Promise<unknown> | undefined
  let flush: () => void
  return (lines) => {
    gathered.push(...lines)
    stored ??= new Promise((resolve) => {
      const timer = setTimeout(() => flush(), options.lingerMs)
      flush = () => {
        clearTimeout(timer)
        const taken = gathered
        gathered = []
        stored = undefined
        resolve(options.store(taken))
      }
    })
    const own = stored
    if (gathered.length >= options.rowsMax) flush()
    return own
  }
}
