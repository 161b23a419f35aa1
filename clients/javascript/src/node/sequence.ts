import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The counter from which the events of a directory get their numbers, in the file `sequence`. */
export interface Sequence {
  /** Reserves numbers; returns the first one, or 0 if the counter cannot be read or written. */
  reserve(count: number): number
  /**
   * Takes back numbers with which nothing was stored. Has no effect if `first` is 0, or if other
   * numbers were reserved after them.
   */
  takeBack(first: number, count: number): void
}

const digits = 16

/**
 * Opens the counter of a directory. Each call reads and overwrites the 16 bytes of the file, so
 * clients and processes share the counter; but two processes that reserve in the same instant can
 * get the same numbers. The calls are synchronous: on a local disk they take some 30 microseconds.
 * The file is not synced to disk: it survives the end of the process, but after a power
 * failure numbers may be used twice.
 */
export function openSequence(dir: string): Sequence {
  /**
   * The last number that this client has reserved and not taken back. The counter is lower only if
   * its file was deleted.
   */
  let known = 0
  /** The value of `known` before the last reservation. */
  let before = 0

  /** Changes the last reserved number. Returns its previous value, or undefined on a failure. */
  function update(change: (last: number) => number): number | undefined {
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const file = openSync(join(dir, 'sequence'), constants.O_RDWR | constants.O_CREAT, 0o600)
      try {
        const text = Buffer.alloc(digits)
        const length = readSync(file, text, 0, digits, 0)
        const last = Math.max(Number(text.toString('latin1', 0, length)) || 0, known)
        const next = change(last)
        if (next !== last) writeSync(file, String(next).padStart(digits, '0'), 0)
        return last
      } finally {
        closeSync(file)
      }
    } catch {
      return undefined
    }
  }

  return {
    reserve(count) {
      const last = update((counter) => counter + count)
      if (last === undefined) return 0
      before = known
      known = last + count
      return last + 1
    },
    takeBack(first, count) {
      if (first === 0) return
      // If this is the last reservation of all clients, it is also the last one of this client.
      const isLast = (counter: number) => counter === first + count - 1
      const last = update((counter) => (isLast(counter) ? first - 1 : counter))
      if (last !== undefined && isLast(last)) known = before
    },
  }
}
