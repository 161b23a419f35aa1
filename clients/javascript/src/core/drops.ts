export interface Drops {
  add(reason: string, count: number): void
  /** The number of records dropped since the client started, by reason. */
  total: Record<string, number>
  /** The number of dropped records that no `intake.dropped` event has reported yet, by reason. */
  unreported: Record<string, number>
}

export function createDrops(onDrop: (reason: string, count: number) => void): Drops {
  const drops: Drops = {
    total: {},
    unreported: {},
    add(reason, count) {
      if (count === 0) return
      addCounts(drops.total, { [reason]: count })
      addCounts(drops.unreported, { [reason]: count })
      onDrop(reason, count)
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
