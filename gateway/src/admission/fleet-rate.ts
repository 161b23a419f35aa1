import { startPolling, systemClock, type Clock } from '@intake/runtime'
import type { RateCount, RateCounts } from './rate-counts.ts'

export interface FleetRate {
  /**
   * Counts a request; returns the requests through all gateways in the window, as far as this
   * gateway knows.
   */
  count(apiKeyId: string): RateCount
  close(): void
}

interface Window {
  /** In milliseconds of `clock.now()`. */
  endsAt: number
  /** Requests that this gateway has counted. */
  own: number
  /** The part of `own` that was sent to Redis, where the other gateways read it. */
  sent: number
  others: number
}

const intervalMs = 500
/** A gateway sends its count at once when it has grown by this part of the limit. */
const urgentPart = 1 / 50

/**
 * Counts the requests of each API key over all gateways, without a call per request. Each gateway
 * counts its own requests, adds them to the common count every half second, or sooner when there
 * are many, and reads the counts of the others. So each gateway may let through too many requests:
 * at most about a fiftieth of the limit, or those of half a second. Without Redis each gateway
 * continues with the counts that it knows.
 *
 * @param options.max requests of a key in a window
 */
export function startFleetRate(options: {
  counts: RateCounts
  max: number
  windowMs: number
  onError: (error: unknown) => void
  clock?: Clock
}): FleetRate {
  const { counts, max, windowMs, onError, clock = systemClock } = options
  const windows = new Map<string, Window>()

  async function share(): Promise<void> {
    const now = clock.now()
    const unsent: { apiKeyId: string; requests: number; window: Window }[] = []
    for (const [apiKeyId, window] of windows) {
      const requests = window.own - window.sent
      if (window.endsAt <= now) windows.delete(apiKeyId)
      else if (requests > 0) unsent.push({ apiKeyId, requests, window })
    }
    if (unsent.length === 0) return
    // When a reply is lost, the same requests are added a second time. Gateways then allow fewer
    // requests until the window ends.
    const known = await counts.add(unsent)
    for (const [index, { requests, window }] of unsent.entries()) {
      const all = known[index]
      if (all === undefined) continue
      window.sent += requests
      if (all.requests < window.sent) {
        // The common window ended before this gateway's own window did, so only the last requests
        // belong to the new common window.
        window.own -= window.sent - requests
        window.sent = requests
      }
      window.others = all.requests - window.sent
      window.endsAt = clock.now() + all.msLeft
    }
  }

  const polling = startPolling({ poll: share, intervalMs, onError, clock })

  return {
    count(apiKeyId) {
      const now = clock.now()
      let window = windows.get(apiKeyId)
      if (window === undefined || window.endsAt <= now) {
        window = { endsAt: now + windowMs, own: 0, sent: 0, others: 0 }
        windows.set(apiKeyId, window)
      }
      window.own++
      const requests = window.own + window.others
      if (requests <= max && window.own - window.sent >= max * urgentPart) {
        polling.pollNow()
      }
      return { requests, msLeft: window.endsAt - now }
    },
    close: polling.close,
  }
}
