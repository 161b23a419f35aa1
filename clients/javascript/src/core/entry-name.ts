/**
 * The states of a segment. `open`: may grow. `leaving`: may grow, and may have been sent at the end
 * of the page. `closed`: complete and never sent. `attempted`: a request with it may have reached
 * the server.
 */
export const open = 0
export const leaving = 1
export const closed = 2
export const attempted = 3

/**
 * The state of a segment whose run has ended, from its last state: `open` becomes `closed`, and
 * `leaving` becomes `attempted`, because it may have been sent at the end of its page.
 */
export const stateOfEnded = (last: number): number => last | closed

/**
 * What the name of a stored segment contains. The state is part of the name, because on every
 * platform a rename changes a whole segment in one step.
 */
export interface EntryName {
  /** Begins with a UUIDv7, so that segments sort by the time of their creation. */
  key: string
  /**
   * How many times the events of the segment got new ids. If several stored segments have the same
   * key, the one with the highest generation counts; among equal generations, the one with the
   * highest state.
   */
  generation: number
  state: number
  /** Number of events, and their size in bytes. In the name of an open segment both are 0. */
  count: number
  byteCount: number
  /**
   * The milliseconds that are added to the time in the id of each event when the segment is sent,
   * because the device's clock was wrong. 0 before the first attempt.
   */
  shiftMs: number
}

/** Prints the name of a segment in storage; `run` is the run of the client that owns it. */
export const printName = (entry: EntryName, run: string): string =>
  [entry.key, entry.generation, entry.state, run, entry.count, entry.byteCount, entry.shiftMs].join(
    '.',
  )

/** Prints the name of a segment that may still grow, with 0 for the count and the size. */
export const printFirstName = (entry: EntryName, run: string): string =>
  printName({ ...entry, count: 0, byteCount: 0 }, run)

export interface ParsedName extends EntryName {
  name: string
  run: string
}

type Seven = [string, string, string, string, string, string, string?, string?]

/** Parses the name of a segment; undefined for any other name. */
export const parseName = (name: string): ParsedName | undefined => {
  const [key, generation, state, run, count, byteCount, shiftMs, more] = name.split('.') as Seven
  if (!shiftMs || more) return undefined
  return {
    name,
    key,
    generation: +generation,
    state: +state,
    run,
    count: +count,
    byteCount: +byteCount,
    shiftMs: +shiftMs,
  }
}

/** The part of a name that a rename does not change. */
export const stemOf = (name: string): string => name.split('.', 2).join('.')
