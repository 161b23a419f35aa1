import type { State } from './state.ts'

/** Counts dropped records, and tells the app. */
export const addDrops = (client: State, reason: string, count: number): void => {
  if (count <= 0) return
  const { onDrop } = client.options
  const more = { [reason]: count }
  addCounts(client.allDropped, more)
  addCounts(client.unreported, more)
  client.areDropsNew = true
  // Calls `onDrop` later, because the app may call `log` in it.
  if (onDrop)
    client.setTimeout(() => {
      try {
        onDrop(reason, count)
      } catch {
        // An error in the app's own function must not stop the client.
      }
    }, 0)
}

/** A code of the server may be named like a member that every object has. */
export const addCounts = (counts: Record<string, number>, more: Record<string, number>): void => {
  for (const reason of Object.keys(more))
    counts[reason] = (Number(counts[reason]) || 0) + more[reason]!
}
