import type { TimeSource } from './ports.ts'

/**
 * A stretch in which the clock of the device ran evenly. Events of one era have ids that are wrong by
 * the same time.
 */
export interface Era {
  /** The clock of the device less the monotonic clock. */
  drift: number
  /** What was added to the clock of the device for ids. */
  offset: number
  /** Whether the server's clock was known. Ids of such an era are never changed. */
  isTrusted: boolean
}

/** Differences up to this are left: a time on the way is not a wrong clock. */
const toleratedMs = 60_000
/** The clocks of a device differ by this without being set. */
const jumpMs = 2000
const dayMs = 86_400_000

export interface Clock {
  /** The time, as far as it is known, in milliseconds since 1970. */
  now(): number
  /** The era that `now` is in. It is another object after every change. */
  era(): Era
  /**
   * Learns the server's clock from an answer.
   *
   * @param serverMs what it showed when the answer was made
   * @param roundTripMs how long the answer took
   */
  observe(serverMs: number, roundTripMs: number): void
  /**
   * What to add to the times of ids that were made in `era` and never sent, in milliseconds.
   *
   * @param isOfThisRun its monotonic clock is the one of now
   */
  shiftFor(era: Era, isOfThisRun: boolean): number
}

/**
 * The clock of the device, corrected by the server's if it is wrong by more than a minute.
 *
 * If the clock of the device jumps, it was set, or the device slept while the monotonic clock stood
 * still. A jump backwards is never a sleep; one of more than a day is taken for a correction.
 */
export function createClock(time: Pick<TimeSource, 'now' | 'monotonic'>): Clock {
  let era: Era = { drift: time.now() - time.monotonic(), offset: 0, isTrusted: false }

  const wasSet = (jump: number) => jump < -jumpMs || jump > dayMs
  const unlessTolerated = (offset: number) => (Math.abs(offset) > toleratedMs ? offset : 0)

  function now(): number {
    const wall = time.now()
    const drift = wall - time.monotonic()
    const jump = drift - era.drift
    if (Math.abs(jump) > jumpMs) {
      // A known offset ends when the clock is set: the time went on evenly.
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
