import type { Core } from './core.ts'
import { idOf } from './log-line.ts'
import type { StoredSegment } from './segment.ts'
import { timeOfUuid } from './uuid.ts'

/**
 * Returns the milliseconds by which to shift the ids of events that were never sent.
 *
 * In an earlier run of the client, the clock may have been right, or wrong by a different amount.
 * So events of an earlier run are moved back only if their times are in the future, which cannot be
 * right.
 */
export function shiftOf({ clock, run }: Core, { context, lines }: StoredSegment): number {
  const isOfThisRun = context.run === run
  const shiftMs = clock.shiftFor(context.era, isOfThisRun)
  const isPossible =
    isOfThisRun || shiftMs > 0 || timeOfUuid(idOf(lines[lines.length - 1]!)) > clock.now()
  return isPossible ? shiftMs : 0
}
