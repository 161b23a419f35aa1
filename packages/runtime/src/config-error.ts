/** The message names each missing or invalid setting, but no value: it may be a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`configuration: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/** Returns the problems of the `ConfigError` that a function throws; empty if it throws none. */
export function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
