import type { Frame } from '@intake/contract'

export interface Coalescer {
  /** Settles as the insert that holds this frame settles. */
  add(frame: Frame): Promise<void>
}

/** Frames that go into one insert. */
export interface Merge {
  rows: number
  members: Buffer[]
}

interface Parked {
  frame: Frame
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Merges the frames of many jobs into few large inserts, without opening them. An insert starts
 * when the oldest frame has waited `lingerMs`, or at once when the merge is full. Meanwhile the
 * next frames gather; one insert runs at a time.
 *
 * @param options.framesMax frames in a merge; no more than jobs can be in hand
 * @param options.bytesMax compressed bytes in a merge; a larger frame makes a merge of its own
 */
export function createCoalescer(options: {
  insert: (merge: Merge) => Promise<void>
  lingerMs: number
  framesMax: number
  bytesMax: number
}): Coalescer {
  const { insert, lingerMs, framesMax, bytesMax } = options
  let parked: Parked[] = []
  let parkedBytes = 0
  let timer: NodeJS.Timeout | undefined
  let inserting = false

  function schedule(): void {
    if (inserting || parked.length === 0) return
    const full = parked.length >= framesMax || parkedBytes >= bytesMax
    if (full) start()
    else timer ??= setTimeout(start, lingerMs)
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    const merged = parked
    parked = []
    parkedBytes = 0
    inserting = true
    void settle(merged).finally(() => {
      inserting = false
      schedule()
    })
  }

  async function settle(merged: Parked[]): Promise<void> {
    try {
      await insert({
        rows: merged.reduce((rows, { frame }) => rows + frame.rows, 0),
        members: merged.map(({ frame }) => frame.gzip),
      })
      for (const { resolve } of merged) resolve()
    } catch (error) {
      for (const { reject } of merged) reject(error)
    }
  }

  return {
    add: (frame) =>
      new Promise((resolve, reject) => {
        parked.push({ frame, resolve, reject })
        parkedBytes += frame.gzip.length
        schedule()
      }),
  }
}
