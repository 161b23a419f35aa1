import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Random } from './random.ts'

/**
 * A process that can die or freeze. Its planned events are lost when it dies, and wait while it is
 * frozen.
 */
export interface Process {
  readonly name: string
  state: 'running' | 'frozen' | 'down'
  /** Increases with each death: events planned in an earlier life never happen. */
  life: number
}

/**
 * The kinds of events.
 * - `work`: the run does not end before this event has happened.
 * - `background`: the event repeats endlessly, like a poll. A run does not wait for it.
 * - `answer`: the event is a response. A bad network may lose it.
 */
export type EventKind = 'work' | 'background' | 'answer'

export interface Event {
  of: Process
  what: string
  run: () => void
  /** Ticks until the event may happen. It may also happen at any later time. */
  after?: number
  kind?: EventKind
  /** Whether the event is left out of the trace. */
  isQuiet?: boolean
}

export interface Scheduler {
  /** Virtual time in ticks. */
  now(): number
  /** Returns a function that cancels the event. */
  plan(event: Event): () => void
  /** Advances the time and runs one event. Resolves to false if no running process has an event. */
  step(): Promise<boolean>
  /** Whether work or responses are still pending. */
  isBusy(): boolean
  /** Drops one response in flight, if there is one. */
  loseAnswer(): boolean
  note(who: string, what: string): void
}

interface Planned extends Required<Omit<Event, 'after'>> {
  life: number
  due: number
}

const never = -1

/**
 * Controls the concurrency of a simulation. Of the events that may happen, a random number chooses
 * the next one. The same random numbers make the same history.
 *
 * @param options.trace receives one line for each event that is not quiet, and for each note
 */
export function createScheduler(options: {
  random: Random
  trace?: ((line: string) => void) | undefined
}): Scheduler {
  const { random, trace } = options
  const planned: Planned[] = []
  const possible: Planned[] = []
  let now = 0

  const isAlive = (one: Planned) => one.life === one.of.life
  const note = (who: string, what: string) => trace?.(`${now}`.padStart(5) + `  ${who}: ${what}`)

  /**
   * Fills `possible` with the events that are due now. Returns the time at which the next event
   * becomes due.
   */
  function collect(): number {
    possible.length = 0
    let kept = 0
    let nextDue = Infinity
    for (const one of planned) {
      if (!isAlive(one)) continue
      planned[kept++] = one
      if (one.of.state !== 'running') continue
      if (one.due <= now) possible.push(one)
      else if (one.due < nextDue) nextDue = one.due
    }
    planned.length = kept
    return nextDue
  }

  return {
    now: () => now,
    note,

    plan({ of, what, run, after = 0, kind = 'work', isQuiet = kind === 'background' }) {
      const one = { of, what, run, kind, isQuiet, life: of.life, due: now + after }
      planned.push(one)
      return () => {
        one.life = never
      }
    },

    async step() {
      now += random.below(2)
      const nextDue = collect()
      if (possible.length === 0) {
        if (nextDue === Infinity) return false
        now = nextDue
        collect()
      }
      const chosen = random.pick(possible)
      chosen.life = never
      if (!chosen.isQuiet) note(chosen.of.name, chosen.what)
      chosen.run()
      // Waits one turn of the event loop. In this turn, the real code does all work that the event
      // caused, except for work that the code has scheduled for later.
      await turnOfTheLoop()
      return true
    },

    isBusy: () => planned.some((one) => isAlive(one) && one.kind !== 'background'),

    loseAnswer() {
      const answers = planned.filter((one) => isAlive(one) && one.kind === 'answer')
      if (answers.length === 0) return false
      const lost = random.pick(answers)
      lost.life = never
      note('network', `loses: ${lost.of.name} ${lost.what}`)
      return true
    },
  }
}
