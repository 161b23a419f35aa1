import { closed } from './entry-name.ts'
import type { Context, Segment, SegmentMemory } from './segment.ts'
import { senderOf } from './sender.ts'
import type { State } from './state.ts'

export const isOpen = (segment: Segment): boolean => segment.state < closed

/** False if a segment was removed meanwhile. */
export const isKnown = ({ segments }: State, segment: Segment): boolean =>
  segments.includes(segment)

export const without = <Item>(list: readonly Item[], item: Item): Item[] =>
  list.filter((other) => other !== item)

export const forget = (client: State, segment: Segment): void => {
  client.segments = without(client.segments, segment)
}

export const insert = ({ segments }: State, before: Segment, segment: Segment): void => {
  segments.splice(segments.indexOf(before), 0, segment)
}

export const close = (segment: Segment): void => {
  if (isOpen(segment)) segment.state = closed
}

/** Closes the open segments, so that they can be sent. */
export const closeAll = ({ segments }: State): void => segments.forEach(close)

/** A segment or feedback. */
export interface Attemptable {
  /** The number of its refusals, see `attemptRequest`. */
  failures: number
  /** True while it may not be sent. */
  isResting?: boolean
}

/**
 * The entry that is sent next. One that was refused gives way to those that were not, so that it
 * never holds them up for longer than one pause.
 */
export const nextOf = <Entry extends Attemptable>(entries: readonly Entry[]): Entry | undefined =>
  entries
    .filter(({ isResting }) => !isResting)
    .sort((one, other) => one.failures - other.failures)[0]

/** The closed segment that is sent next. */
export const oldest = ({ segments }: State): Segment | undefined =>
  nextOf(segments.filter((one) => !isOpen(one) && !one.isBusy))

export const countOf = ({ segments }: State): number =>
  segments.reduce((sum, { count }) => sum + count, 0)

export const bytesOf = ({ segments }: State): number =>
  segments.reduce((sum, { byteCount }) => sum + byteCount, 0)

export const contextOf = (client: State, { user, era }: SegmentMemory): Context => ({
  sender: senderOf(client, user),
  era,
  run: client.run,
})
