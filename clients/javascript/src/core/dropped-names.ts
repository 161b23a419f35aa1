import { correctedNow } from './clock.ts'
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
export const leavesOut = (client: State, event: string): boolean => {
  const entry = client.droppedNames.get(event)
  if (!entry || entry.count < droppedMin) return false
  const leftMs = entry.until - correctedNow(client)
  // If the clock was set back, more time seems to be left than the pause is long.
  if (leftMs > 0 && leftMs <= pauseMs) return true
  entry.until += pauseMs - leftMs
  return false
}

/** Learns from the result of an event. */
export const learn = (client: State, event: string, isDropped: boolean): void => {
  const { droppedNames } = client
  const { count = 0 } = droppedNames.get(event) || {}
  if (!isDropped) droppedNames.delete(event)
  else if (count || droppedNames.size < namesMax)
    droppedNames.set(event, { count: count + 1, until: correctedNow(client) + pauseMs })
}
