import { startPolling, systemClock, type Clock } from '@intake/runtime'
import type { RateCount, RateCounts } from './rate-counts.ts'

export interface FleetRate {
  /** Counts a request; returns the requests of all gateways in the window, as far as this one knows. */
  count(apiKeyId: string): RateCount
  close(): void
}

interface Window {
  /** In milliseconds of `clock.now()`. */
  endsAt: number
  /** Counted here. */
  own: number
  /** The part of `own` that the others can know. */
  sent: number
  others: number
}

const intervalMs = 500
/** A gateway tells the others at once when it has counted this part of the limit. */
const urgentPart = 1 / 50

/**
 * Counts the requests of each API key over all gateways, without a call per request: each gateway counts
 * its own, adds them to the common count every half second, or sooner when there are many, and learns those
 * of the others. Several gateways together let at most about a fiftieth of the limit each, or what they get
 * in half a second, through in excess. Without Redis each continues with what it knows.
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
    // Each time a reply is lost the same requests are added again: the others allow less until the window ends.
    const known = await counts.add(unsent)
    for (const [index, { requests, window }] of unsent.entries()) {
      const all = known[index]
      if (all === undefined) continue
      window.sent += requests
      if (all.requests < window.sent) {
        // The common window ended earlier than this one: only the last requests are of the new one.
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
