export interface MergeGathering<Item> {
  add(item: Item): void
  /** `now`: the merge is full; `soon`: it may linger; `no`: nothing is here, or an insert runs. */
  isDue(): 'now' | 'soon' | 'no'
  /** The oldest items that fit into one merge; its insert runs from now on. */
  take(): Item[]
  /** The insert has settled. */
  settled(): void
}

/** The rules of the worker's coalescer; `coalescer.test.ts` holds the real one against them. */
export function createMergeGathering<Item extends { bytes: number }>(limits: {
  framesMax: number
  bytesMax: number
}): MergeGathering<Item> {
  const { framesMax, bytesMax } = limits
  let parked: Item[] = []
  let isInserting = false

  const bytesOf = (items: readonly Item[]) => items.reduce((sum, { bytes }) => sum + bytes, 0)
  const isFull = () => parked.length >= framesMax || bytesOf(parked) >= bytesMax

  return {
    add: (item) => void parked.push(item),
    isDue() {
      if (isInserting || parked.length === 0) return 'no'
      return isFull() ? 'now' : 'soon'
    },
    take() {
      let end = 1
      while (end < Math.min(parked.length, framesMax)) {
        if (bytesOf(parked.slice(0, end + 1)) > bytesMax) break
        end++
      }
      const merge = parked.slice(0, end)
      parked = parked.slice(end)
      isInserting = true
      return merge
    },
    settled() {
      isInserting = false
    },
  }
}
