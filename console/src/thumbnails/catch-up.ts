import { dayMs } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import type { Arrival } from './find-feedback.ts'

const everyMs = 60 * 60_000
const daysBack = 30

/**
 * The days of arrival that the worker searches for feedback that was not examined at its arrival,
 * because a worker was killed or ran without thumbnails.
 */
export function createCatchUp({ clock, wallMs }: { clock: Clock; wallMs: () => number }) {
  let days: Arrival[] = []
  let dueAt = clock.now()
  return {
    /**
     * Lists all days again, the latest first. Does nothing if the last list is less than an hour
     * old.
     */
    refill(): void {
      if (clock.now() < dueAt) return
      dueAt = clock.now() + everyMs
      days = lastDays(wallMs())
    },
    /** The latest day that is not finished; undefined if every day is finished. */
    day: (): Arrival | undefined => days[0],
    finishDay: () => void days.shift(),
  }
}

function lastDays(nowMs: number): Arrival[] {
  // The first day begins at `nowMs` and ends in the future. It covers feedback from gateways whose
  // clocks are ahead.
  return Array.from({ length: daysBack + 1 }, (_, day) => {
    const fromMs = nowMs - day * dayMs
    return { fromMs, toMs: fromMs + dayMs }
  })
}
