const examples = 3

/** Collects violations of the guarantees, grouped by kind, with a few examples of each. */
export function createViolations() {
  const found = new Map<string, string[]>()
  return {
    add: (what: string, where: string) => void found.set(what, [...(found.get(what) ?? []), where]),
    list: () =>
      [...found].map(
        ([what, where]) => `${where.length} × ${what} (${where.slice(0, examples).join(', ')})`,
      ),
  }
}

export type Violations = ReturnType<typeof createViolations>
