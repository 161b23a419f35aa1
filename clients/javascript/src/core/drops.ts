import type { IntakeOptions } from './options.ts'
import type { TimeSource } from './ports.ts'

export interface Drops {
  add(reason: string, count: number): void
  /** The number of records dropped since the client started, by reason. */
  total: Record<string, number>
  /** The number of dropped records that no `intake.dropped` event has reported yet, by reason. */
  unreported: Record<string, number>
  /** Whether `unreported` has changed since it was stored. */
  isNew?: boolean
}

export function createDrops(time: TimeSource, onDrop: IntakeOptions['onDrop']): Drops {
  const drops: Drops = {
    total: {},
    unreported: {},
    add(reason, count) {
      if (count === 0) return
      const more = { [reason]: count }
      addCounts(drops.total, more)
      addCounts(drops.unreported, more)
      drops.isNew = true
      // Calls `onDrop` later, because the app may call `log` in it.
      if (onDrop)
        time.setTimeout(() => {
          try {
            onDrop(reason, count)
          } catch {
            // An error in the app's own function must not stop the client.
          }
        }, 0)
    },
  }
  return drops
}

export function addCounts(counts: Record<string, number>, more: Record<string, number>): void {
  for (const reason of Object.keys(more)) counts[reason] = (counts[reason] || 0) + more[reason]!
}
