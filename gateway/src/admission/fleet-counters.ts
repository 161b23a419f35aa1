import { startPolling, systemClock, type Clock } from '@intake/runtime'
import type { SharedCounts } from './shared-counts.ts'

export type FleetCounter = Pick<Counter, 'add' | 'total' | 'msLeft' | 'follow'>

export type FleetCounters = ReturnType<typeof startFleetCounters>

const intervalMs = 500
/** A counter on which `follow` was called is read from Redis at least this often. */
const followMs = 2_000
/** A count is sent to Redis at once when it has grown by this fraction of the limit. */
const urgentPart = 1 / 50

interface CounterOptions {
  name: string
  windowMs: number
  clock: Pick<Clock, 'now'>
  onBegin: (counter: Counter) => void
  onUrgent: () => void
}

/**
 * Counts something for one API key in a window of time, such as its requests in a minute. The total
 * includes the counts of the other gateways, as far as this gateway knows them.
 */
class Counter {
  /** The end of the window, in milliseconds of `clock.now()`. */
  endsAt = -Infinity
  own = 0
  /** The part of `own` that was sent to Redis, where the other gateways read it. */
  sent = 0
  others = 0
  isFollowed = false
  #sharedAt = -Infinity
  readonly options: CounterOptions

  constructor(options: CounterOptions) {
    this.options = options
  }

  /**
   * Counts `amount`, and returns the sum over all gateways. A negative amount takes back what was
   * counted.
   *
   * @param max the limit for the count; when this gateway has counted a fiftieth of the limit since
   * it last sent its count to Redis, it sends the count at once
   */
  add(amount: number, max: number): number {
    if (this.options.clock.now() >= this.endsAt) this.#begin()
    this.own = Math.max(0, this.own + amount)
    const total = this.own + this.others
    if (this.own - this.sent >= max * urgentPart && total <= max + amount) this.options.onUrgent()
    return total
  }

  total(): number {
    return this.options.clock.now() < this.endsAt ? this.own + this.others : 0
  }

  msLeft(): number {
    return Math.max(0, this.endsAt - this.options.clock.now())
  }

  /** Keeps reading until the window ends, even if this gateway counts nothing. */
  follow(): void {
    const hasEnded = this.options.clock.now() >= this.endsAt
    if (this.isFollowed && !hasEnded) return
    if (hasEnded) this.#begin()
    this.isFollowed = true
    this.options.onUrgent()
  }

  /**
   * What is to be sent to Redis now. Redis never gets a negative amount. If a sent amount is taken
   * back, the next amount that is sent is smaller instead. Undefined if nothing is to be sent or
   * read.
   */
  unsent(nowMs: number): number | undefined {
    const amount = Math.max(0, this.own - this.sent)
    const isDue = this.isFollowed && nowMs - this.#sharedAt >= followMs
    return amount > 0 || isDue ? amount : undefined
  }

  /** Notes what Redis responded to an amount that was sent at `atMs` of `clock.now()`. */
  shared(amount: number, all: { total: number; msLeft: number }, atMs: number): void {
    this.#sharedAt = atMs
    this.sent += amount
    if (all.total < this.sent) {
      // The shared window ended before this gateway's own window did, so only the amount sent last
      // belongs to the new shared window.
      this.own = Math.max(0, this.own - (this.sent - amount))
      this.sent = amount
    }
    this.others = Math.max(0, all.total - this.sent)
    this.endsAt = this.options.clock.now() + all.msLeft
  }

  #begin(): void {
    this.endsAt = this.options.clock.now() + this.options.windowMs
    this.own = 0
    this.sent = 0
    this.others = 0
    this.isFollowed = false
    this.options.onBegin(this)
  }
}

/** Counts of this process alone, for a gateway without Redis. */
export const createLocalCounters = (clock: Pick<Clock, 'now'>): Pick<FleetCounters, 'open'> => ({
  open: (name, windowMs) =>
    new Counter({ name, windowMs, clock, onBegin: () => {}, onUrgent: () => {} }),
})

/**
 * Keeps counts that include all gateways, without calling Redis for each request. Each gateway
 * counts for itself, adds its counts to the shared counts every half second (sooner if they grow
 * fast), and reads the counts of the other gateways. Between two readings each gateway may exceed
 * the limit by about a fiftieth of the limit and what arrives until Redis responds, or by the
 * arrivals of half a second if these are fewer. So a burst may use up the whole limit in each
 * gateway. While Redis is down, each gateway continues with the counts that it knows.
 */
export function startFleetCounters(options: {
  counts: SharedCounts
  onError: (error: unknown) => void
  clock?: Clock
}) {
  const { counts, onError, clock = systemClock } = options
  /** The counters whose windows have not ended. */
  const running = new Set<Counter>()
  let wake = () => {}

  async function share(): Promise<void> {
    // Waits until a window begins, so that an idle gateway does not poll.
    if (running.size === 0) await new Promise<void>((resolve) => (wake = resolve))
    const now = clock.now()
    const unsent: { counter: Counter; amount: number }[] = []
    for (const counter of running) {
      const amount = counter.unsent(now)
      if (counter.endsAt <= now) running.delete(counter)
      else if (amount !== undefined) unsent.push({ counter, amount })
    }
    if (unsent.length === 0) return
    // If the reply is lost, the next poll adds the same amounts a second time. The total is then
    // too high, so gateways accept less until the window ends.
    const known = await counts.add(
      unsent.map(({ counter, amount }) => {
        const { name, windowMs } = counter.options
        return { name, windowMs, amount }
      }),
    )
    for (const [index, { counter, amount }] of unsent.entries()) {
      const all = known[index]
      if (all !== undefined) counter.shared(amount, all, now)
    }
  }

  const polling = startPolling({ poll: share, intervalMs, onError, clock })

  return {
    /**
     * @param name the name of the count, the same in all gateways
     * @param windowMs the length of a window; it begins when the first gateway counts something
     */
    open: (name: string, windowMs: number): FleetCounter =>
      new Counter({
        name,
        windowMs,
        clock,
        onBegin(counter) {
          running.add(counter)
          wake()
        },
        onUrgent: polling.pollNow,
      }),
    close() {
      polling.close()
      wake()
    },
  }
}
