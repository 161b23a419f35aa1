/**
 * What the name of a stored segment or feedback says. A rename changes the state of a whole segment
 * at once, whatever the platform.
 */
export interface EntryName {
  kind: 'log' | 'feedback'
  /** Ascends with the time at which it was begun. */
  key: string
  /** A higher one replaces the entry with the same key. */
  generation: number
  /** The run of the client that owns it. */
  run: string
  /**
   * `open`: may grow. `leaving`: the same, and the end of the page may have sent it. `closed`: never
   * sent. `attempted`: a request may have reached the server.
   */
  state: State
  /** Events and bytes; 0 while it is open. */
  count: number
  bytes: number
  /** What every id of an attempted segment is shifted by, in milliseconds. */
  shiftMs: number
}

const states = ['open', 'leaving', 'closed', 'attempted'] as const
export type State = (typeof states)[number]

export function printName(name: EntryName): string {
  const { kind, key, generation, run, state, count, bytes, shiftMs } = name
  return [kind, key, generation, run, state, count, bytes, shiftMs].join('.')
}

/** @returns undefined: it is not the name of an entry */
export function parseName(text: string): EntryName | undefined {
  const [kind, key, generation, run, state, count, bytes, shiftMs, more] = text.split('.')
  if ((kind !== 'log' && kind !== 'feedback') || more !== undefined) return undefined
  if (!key || !run || states.indexOf(state as State) < 0) return undefined
  const numbers = [generation, count, bytes, shiftMs].map(Number)
  if (numbers.some((number) => isNaN(number))) return undefined
  return {
    kind,
    key,
    generation: numbers[0]!,
    run,
    state: state as State,
    count: numbers[1]!,
    bytes: numbers[2]!,
    shiftMs: numbers[3]!,
  }
}

/** Which of two entries with the same key replaces the other after a crash between two steps. */
export function isNewer(one: EntryName, other: EntryName): boolean {
  if (one.generation !== other.generation) return one.generation > other.generation
  return states.indexOf(one.state) > states.indexOf(other.state)
}

/** The part of a name that a rename leaves as it is. */
export const stemOf = (name: string): string => name.split('.').slice(0, 3).join('.')
