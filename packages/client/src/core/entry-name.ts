/**
 * `open`: may grow. `leaving`: the same, and the end of the page may have sent it. `closed`: never
 * sent. `attempted`: a request may have reached the server.
 */
export const open = 0
export const leaving = 1
export const closed = 2
export const attempted = 3

/**
 * What the name of a stored segment says. A rename changes the state of a whole segment
 * at once, on every platform.
 */
export interface EntryName {
  /** Ascends with the time at which it was begun. */
  key: string
  /** Of segments with the same key, the highest generation and state replace the others. */
  generation: number
  state: number
  /** Events and bytes; 0 while it is open. */
  count: number
  bytes: number
  /** What every id of an attempted segment is shifted by, in milliseconds. */
  shiftMs: number
}

/** @param run of the client that owns it */
export const printName = (entry: EntryName, run: string): string =>
  [entry.key, entry.generation, entry.state, run, entry.count, entry.bytes, entry.shiftMs].join('.')

export interface ParsedName extends EntryName {
  name: string
  run: string
}

/** @returns undefined: it is not the name of a segment */
export function parseName(name: string): ParsedName | undefined {
  const parts = name.split('.')
  const [, generation, state, , count, bytes, shiftMs] = parts.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (parts.length !== 7) return undefined
  return { name, key: parts[0]!, generation, state, run: parts[3]!, count, bytes, shiftMs }
}

/** The part of a name that a rename does not change. */
export const stemOf = (name: string): string => name.split('.').slice(0, 2).join('.')
