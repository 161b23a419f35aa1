/** The value of a setting that may change while the process runs, because a file contains it. */
export interface Secret {
  current(): string
  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void
}

/** `set` with another value calls every listener, and then throws the first of their errors. */
export function createSecret(value: string): Secret & { set(value: string): void } {
  const listeners = new Set<() => void>()
  return {
    current: () => value,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set(next) {
      if (next === value) return
      value = next
      const errors = [...listeners].flatMap((listener) => {
        try {
          listener()
          return []
        } catch (error) {
          return [error]
        }
      })
      if (errors.length > 0) throw errors[0]
    },
  }
}
