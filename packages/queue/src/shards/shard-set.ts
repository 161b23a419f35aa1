import type { Clock } from '@intake/runtime'
import type { JobSource, Waiting } from '../job-source.ts'
import { Shard } from './shard.ts'

/**
 * The number of jobs by which a shard may be ahead of the shard that was served least. Up to this
 * number, a completion claims the next job from the same shard, which saves a command.
 */
export const aheadMax = 16

/** The shards that are served, and the one whose turn it is. Begins with shard 0. */
export class ShardSet {
  readonly #open: (shard: number) => JobSource
  readonly #onError: (error: Error) => void
  readonly #clock: Clock
  readonly #byNumber = new Map<number, Shard>()
  #isClosed = false

  constructor(options: {
    open: (shard: number) => JobSource
    onError: (error: Error) => void
    clock: Clock
  }) {
    this.#open = options.open
    this.#onError = options.onError
    this.#clock = options.clock
    this.add(0)
  }

  all(): Shard[] {
    return [...this.#byNumber.values()]
  }

  /** Opens a shard, unless it is open. */
  add(number: number): void {
    if (this.#byNumber.has(number) || this.#isClosed) return
    const [source, served] = [this.#open(number), this.#mostServed()]
    const shard = new Shard({ source, served, clock: this.#clock, onError: this.#onError })
    this.#byNumber.set(number, shard)
  }

  /** Returns the shard to ask next; undefined if no shard may have jobs. */
  next(): Shard | undefined {
    let least: Shard | undefined
    for (const shard of this.#byNumber.values()) {
      if (shard.isDue) this.noteFilled(shard)
      if (shard.mayHaveJobs && (least === undefined || shard.served < least.served)) least = shard
    }
    return least
  }

  /**
   * Notes that a shard may have jobs again after it was empty. It gets the lowest count with which
   * the next completion on the most served shard claims from it.
   */
  noteFilled(shard: Shard): void {
    shard.noteFilled(this.#mostServed() - aheadMax - 1)
  }

  async peek(): Promise<Waiting> {
    const all = await Promise.all(
      this.all().map(async (shard) => {
        const waiting = await shard.peek()
        if (waiting.count > 0 && shard.wasEmpty) this.noteFilled(shard)
        return waiting
      }),
    )
    return {
      count: all.reduce((sum, { count }) => sum + count, 0),
      // The smallest id is the oldest, because ids begin with a time.
      oldest: all.flatMap(({ oldest }) => oldest ?? []).toSorted()[0],
    }
  }

  async hasPostponed(): Promise<boolean> {
    const answers = this.all().map((shard) => shard.hasPostponed())
    return (await Promise.all(answers)).includes(true)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.all().map(({ source }) => source.close()))
  }

  #mostServed(): number {
    return Math.max(0, ...this.all().map(({ served }) => served))
  }
}
