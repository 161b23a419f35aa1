export interface Drops {
  add(reason: string, count: number): void
  /** All since the start. */
  total: Record<string, number>
  /** Those that no `intake.dropped` event has reported. */
  unreported: Record<string, number>
}

/** Counts what was given up, by reason. */
export function createDrops(onDrop: (reason: string, count: number) => void): Drops {
  const drops: Drops = {
    total: {},
    unreported: {},
    add(reason, count) {
      if (count === 0) return
      addCounts(drops.total, { [reason]: count })
      addCounts(drops.unreported, { [reason]: count })
      try {
        onDrop(reason, count)
      } catch {
        // An error of the app's function is the app's.
      }
    },
  }
  return drops
}

export function addCounts(
  counts: Record<string, number>,
  more: Record<string, number>,
): Record<string, number> {
  for (const reason of Object.keys(more)) counts[reason] = (counts[reason] || 0) + more[reason]!
  return counts
}
