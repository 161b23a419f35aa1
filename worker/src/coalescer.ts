import type { Frame } from '@intake/contract'

export interface Coalescer {
  /** Settles as the insert that holds this frame settles. */
  add(frame: Frame): Promise<void>
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
 * @param options.framesMax the most frames in a merge; fewer than jobs can be in hand
 * @param options.bytesMax the most bytes of NDJSON in a merge, before compression: what the insert costs ClickHouse;
 * a larger frame is one of its own
 */
export function createCoalescer(options: {
  insert: (frames: Frame[]) => Promise<void>
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
    if (parked.length >= framesMax || parkedBytes >= bytesMax) start()
    else timer ??= setTimeout(start, lingerMs)
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    const merged = takeMerge()
    inserting = true
    void settle(merged).finally(() => {
      inserting = false
      schedule()
    })
  }

  /** The oldest frames, until the merge is full. There is always one. */
  function takeMerge(): Parked[] {
    let end = 0
    let bytes = 0
    for (const { frame } of parked) {
      bytes += frame.jsonBytes
      if (end === framesMax || (bytes > bytesMax && end > 0)) break
      end++
    }
    const merged = parked.slice(0, end)
    parked = parked.slice(end)
    parkedBytes = parked.reduce((sum, { frame }) => sum + frame.jsonBytes, 0)
    return merged
  }

  async function settle(merged: Parked[]): Promise<void> {
    try {
      await insert(merged.map(({ frame }) => frame))
      for (const { resolve } of merged) resolve()
    } catch (error) {
      for (const { reject } of merged) reject(error)
    }
  }

  return {
    add: (frame) =>
      new Promise((resolve, reject) => {
        parked.push({ frame, resolve, reject })
        parkedBytes += frame.jsonBytes
        schedule()
      }),
  }
}
