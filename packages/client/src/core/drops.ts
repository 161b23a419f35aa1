export interface Drops {
  add(reason: string, count: number): void
  /** All since the start. */
  total(): Record<string, number>
  /** Those that no `intake.dropped` event has reported; undefined: none. */
  unreported(): Record<string, number> | undefined
  reported(): void
  /** Those that an earlier run could not report. */
  restore(counts: Record<string, number>): void
}

/** Counts what was given up, by reason. */
export function createDrops(onDrop?: (reason: string, count: number) => void): Drops {
  const total: Record<string, number> = {}
  let unreported: Record<string, number> | undefined
  function note(reason: string, count: number): void {
    if (!unreported) unreported = {}
    unreported[reason] = (unreported[reason] || 0) + count
  }
  return {
    add(reason, count) {
      if (count === 0) return
      total[reason] = (total[reason] || 0) + count
      note(reason, count)
      try {
        if (onDrop) onDrop(reason, count)
      } catch {
        // An error of the app's function is the app's; the client goes on.
      }
    },
    total: () => ({ ...total }),
    unreported: () => unreported,
    reported() {
      unreported = undefined
    },
    restore(counts) {
      for (const reason of Object.keys(counts)) note(reason, Number(counts[reason]) || 0)
    },
  }
}
