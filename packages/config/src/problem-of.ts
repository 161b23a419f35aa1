/** Calls a function that reads a setting. Returns its error message as a list; empty if none. */
export function problemOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    return [(error as RangeError).message]
  }
}
