import type { State } from './state.ts'

/** How often an event name was dropped in a row by a rule of the operator. */
export interface DroppedName {
  count: number
  /** The time until which events with this name are left out. */
  until: number
}

/** So many events of a name must be dropped, one after the other, before it is left out. */
const droppedMin = 20
const pauseMs = 300_000
/** Bounds the memory for apps that make names of values. */
const namesMax = 100

/**
 * Whether to leave out an event with this name. Once in five minutes it is false for such a name:
 * that event shows whether the rule still applies.
 */
export const leavesOut = ({ droppedNames, clock }: State, event: string): boolean => {
  const entry = droppedNames[event]
  if (!entry || entry.count < droppedMin) return false
  const leftMs = entry.until - clock.now()
  // If the clock was set back, more time seems to be left than the pause is long.
  if (leftMs > 0 && leftMs <= pauseMs) return true
  entry.until += pauseMs - leftMs
  return false
}

/** Learns from the result of an event. */
export const learn = ({ droppedNames, clock }: State, event: string, isDropped: boolean): void => {
  const known = Object.keys(droppedNames).length
  const { count = 0 } = droppedNames[event] || {}
  if (!isDropped) delete droppedNames[event]
  else if (count || known < namesMax)
    droppedNames[event] = { count: count + 1, until: clock.now() + pauseMs }
}
