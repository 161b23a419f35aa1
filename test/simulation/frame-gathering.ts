/** Decides whether rows may share a frame. */
export interface Sized {
  partition: string | number
  characters: number
}

export interface FrameGathering<Item extends Sized> {
  add(item: Item): void
  /** Whether a frame may be taken now. */
  isReady(): boolean
  /** The oldest rows that fit into one frame; the frame is in flight from now on. */
  take(): Item[]
  /** One frame in flight has settled. */
  settled(): void
}

export interface FrameLimits {
  framesInFlightMax: number
  rowsMax: number
  charactersMax: number
}

/** The rules of the gateway's group commit; `group-commit.test.ts` compares the real one with them. */
export function createFrameGathering<Item extends Sized>(
  limits: FrameLimits,
): FrameGathering<Item> {
  let waiting: Item[] = []
  let inFlight = 0

  return {
    add: (item) => void waiting.push(item),
    isReady: () => waiting.length > 0 && inFlight < limits.framesInFlightMax,
    take() {
      const frame: Item[] = []
      const others: Item[] = []
      let characters = 0
      let isFull = false
      for (const item of waiting) {
        const isOther = item.partition !== waiting[0]?.partition
        const fits = frame.length === 0 || characters + item.characters <= limits.charactersMax
        if (!isOther) isFull ||= !fits || frame.length === limits.rowsMax
        if (isOther || isFull) {
          others.push(item)
        } else {
          frame.push(item)
          characters += item.characters
        }
      }
      waiting = others
      inFlight++
      return frame
    },
    settled: () => void inFlight--,
  }
}
