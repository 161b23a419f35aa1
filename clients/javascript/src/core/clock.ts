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

/** The clock of a device, and what is known of it. */
export interface Clock extends Pick<TimeSource, 'now' | 'monotonic'> {
  /** The era of the last call of `eraOf`. */
  era: Era
}

export const firstEra = ({ now, monotonic }: Omit<Clock, 'era'>): Era => ({
  drift: now() - monotonic(),
  offset: 0,
  isTrusted: false,
})

const wasSet = (jump: number) => jump < -jumpMs || jump > dayMs
const unlessTolerated = (offset: number) => (Math.abs(offset) > toleratedMs ? offset : 0)

/**
 * The current era. Every change of the clock creates a new object.
 *
 * A jump of the device's clock has two possible causes. Someone set the clock, or the device slept
 * and its monotonic clock stopped meanwhile. If the jump is backwards or longer than a day, the
 * clock is assumed to have been set.
 */
export const eraOf = (clock: Clock): Era => {
  const { offset, isTrusted } = clock.era
  const drift = clock.now() - clock.monotonic()
  const jump = drift - clock.era.drift
  if (Math.abs(jump) > jumpMs)
    clock.era = {
      drift,
      // If someone set the clock, real time did not jump. So the offset is reduced by the jump, and
      // the times in ids remain right.
      offset: isTrusted && wasSet(jump) ? unlessTolerated(offset - jump) : offset,
      isTrusted: false,
    }
  return clock.era
}

/**
 * The device's time, corrected if the server's clock is known and differs by more than a minute, in
 * milliseconds since 1970.
 */
export const correctedNow = (clock: Clock): number => eraOf(clock).offset + clock.now()

/**
 * Learns the server's clock from a response.
 *
 * @param serverMs the server's time when it made the response
 * @param roundTripMs how long the request and its response took
 */
export const observe = (clock: Clock, serverMs: number, roundTripMs: number): void => {
  const { drift, offset: before, isTrusted } = eraOf(clock)
  const offset = serverMs + roundTripMs / 2 - clock.now()
  if (!isTrusted || Math.abs(offset - before) > toleratedMs)
    clock.era = { drift, offset: unlessTolerated(offset), isTrusted: true }
}

/**
 * The milliseconds to add to the times of ids that were made in the era `past` and never sent.
 *
 * @param isOfThisRun whether `past` is from this run. Monotonic clocks of different runs cannot be
 *   compared
 */
export const shiftFor = ({ era }: Clock, past: Era, isOfThisRun: boolean): number => {
  if (past.isTrusted || !era.isTrusted) return 0
  const byClock = era.offset - past.offset
  const jump = era.drift - past.drift
  return Math.round(unlessTolerated(isOfThisRun && wasSet(jump) ? byClock + jump : byClock))
}
