import type { Core } from './core.ts'
import { idOf } from './log-line.ts'
import type { StoredSegment } from './segment.ts'
import { timeOfUuid } from './uuid.ts'

/**
 * The milliseconds by which the ids of events that were never sent are to be shifted.
 *
 * Whether the clock was as wrong in an earlier run as it is now, nobody knows. Events of such a run
 * are not moved back unless they lie in the future.
 */
export function shiftOf({ clock, run }: Core, { context, lines }: StoredSegment): number {
  const isOfThisRun = context.run === run
  const shiftMs = clock.shiftFor(context.era, isOfThisRun)
  const isPossible =
    isOfThisRun || shiftMs > 0 || timeOfUuid(idOf(lines[lines.length - 1]!)) > clock.now()
  return isPossible ? shiftMs : 0
}
