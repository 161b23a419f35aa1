import type { Clock } from './clock.ts'
import { parseObject } from './decide.ts'

/** The names of events that a rule of the operator drops. The client does not keep such events. */
export interface DroppedNames {
  /**
   * Whether to leave out an event with this name. Once in five minutes it is false for such a name:
   * that event shows whether the rule still applies.
   */
  leavesOut(event: string): boolean
  /** Learns from the result of an event. */
  learn(line: string, isDropped: boolean): void
}

/** So many events of a name must be dropped, one after the other, before it is left out. */
const droppedMin = 20
const pauseMs = 300_000
/** Bounds the memory for apps that make names of values. */
const namesMax = 100

export function createDroppedNames(clock: Pick<Clock, 'now'>): DroppedNames {
  const names: Record<string, { count: number; until: number }> = Object.create(null)
  return {
    leavesOut(event) {
      const entry = names[event]
      if (!entry || entry.count < droppedMin) return false
      const leftMs = entry.until - clock.now()
      // If the clock was set back, more time seems to be left than the pause is long.
      if (leftMs > 0 && leftMs <= pauseMs) return true
      entry.until += pauseMs - leftMs
      return false
    },
    learn(line, isDropped) {
      const known = Object.keys(names).length
      if (!isDropped && !known) return
      const event = parseObject(line)['event'] as string
      const entry = names[event]
      if (!isDropped) delete names[event]
      else if (entry) {
        entry.count++
        entry.until = clock.now() + pauseMs
      } else if (known < namesMax) names[event] = { count: 1, until: 0 }
    },
  }
}
