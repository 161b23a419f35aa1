export interface MergeGathering<Item> {
  add(item: Item): void
  /** `now`: the merge is full; `soon`: it may linger; `no`: nothing is here, or an insert runs. */
  isDue(): 'now' | 'soon' | 'no'
  /** Everything that has gathered; its insert runs from now on. */
  take(): Item[]
  /** The insert has settled. */
  settled(): void
}

/** The rules of the worker's coalescer; `coalescer.test.ts` holds the real one against them. */
export function createMergeGathering<Item>(limits: { framesMax: number }): MergeGathering<Item> {
  let parked: Item[] = []
  let isInserting = false

  return {
    add: (item) => void parked.push(item),
    isDue() {
      if (isInserting || parked.length === 0) return 'no'
      return parked.length >= limits.framesMax ? 'now' : 'soon'
    },
    take() {
      const merge = parked
      parked = []
      isInserting = true
      return merge
    },
    settled() {
      isInserting = false
    },
  }
}
