import { dayMs } from './limits.ts'
import type { TimeSource } from './ports.ts'

/**
 * A period in which the device's clock ran evenly. All ids that were made in one era have times
 * that are wrong by the same amount.
 */
export interface Era {
  /** The device's clock minus the monotonic clock. */
  drift: number
  /** The milliseconds that are added to the device's clock when an id is made. */
  offset: number
  /** Whether the server's clock was known. If so, the ids of this era are never changed. */
  isTrusted: boolean
}

/**
 * Differences from the server's clock up to this size are not corrected, because the transfer time
 * of a response may cause them.
 */
const toleratedMs = 60_000
/** Jumps of the clock up to this size are ignored, because they occur even if nobody sets it. */
const jumpMs = 2000

export interface Clock {
  /** The device's time, corrected if the server's clock is known, in milliseconds since 1970. */
  now(): number
  /** The current era, to which `now` belongs. Every change of the clock creates a new object. */
  era(): Era
  /**
   * Learns the server's clock from a response.
   *
   * @param serverMs the server's time when it made the response
   * @param roundTripMs how long the request and its response took
   */
  observe(serverMs: number, roundTripMs: number): void
  /**
   * The milliseconds to add to the times of ids that were made in `era` and never sent.
   *
   * @param isOfThisRun whether `era` is from this run. Monotonic clocks of different runs cannot be
   *   compared
   */
  shiftFor(era: Era, isOfThisRun: boolean): number
}

/**
 * Creates a clock that follows the device's clock, and corrects it if it differs from the server's
 * by more than a minute.
 *
 * A jump of the device's clock has two possible causes. Someone set the clock, or the device slept
 * and its monotonic clock stopped meanwhile. If the jump is backwards or longer than a day, the
 * clock is assumed to have been set.
 */
export const createClock = (time: Pick<TimeSource, 'now' | 'monotonic'>): Clock => {
  let era: Era = { drift: time.now() - time.monotonic(), offset: 0, isTrusted: false }

  const wasSet = (jump: number) => jump < -jumpMs || jump > dayMs
  const unlessTolerated = (offset: number) => (Math.abs(offset) > toleratedMs ? offset : 0)

  const now = (): number => {
    const wall = time.now()
    const drift = wall - time.monotonic()
    const jump = drift - era.drift
    if (Math.abs(jump) > jumpMs) {
      // If someone set the clock, real time did not jump. So the offset is reduced by the jump, and
      // the times in ids remain right.
      const isKnown = era.isTrusted && wasSet(jump)
      era = {
        drift,
        offset: isKnown ? unlessTolerated(era.offset - jump) : era.offset,
        isTrusted: false,
      }
    }
    return wall + era.offset
  }

  return {
    now,
    era() {
      now()
      return era
    },
    observe(serverMs, roundTripMs) {
      const offset = serverMs + roundTripMs / 2 - (now() - era.offset)
      if (era.isTrusted && Math.abs(offset - era.offset) <= toleratedMs) return
      era = { drift: era.drift, offset: unlessTolerated(offset), isTrusted: true }
    },
    shiftFor(past, isOfThisRun) {
      if (past.isTrusted || !era.isTrusted) return 0
      const byClock = era.offset - past.offset
      const jump = era.drift - past.drift
      return Math.round(unlessTolerated(isOfThisRun && wasSet(jump) ? byClock + jump : byClock))
    },
  }
}
