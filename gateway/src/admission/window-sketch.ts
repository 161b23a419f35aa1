import { randomInt } from 'node:crypto'
import type { Clock } from '@intake/runtime'

/**
 * Limits what each sender does in a window of time. It uses a fixed amount of memory for any number
 * of senders.
 */
export interface WindowSketch {
  /**
   * Counts `amount` for a sender unless it has used up `max` in this window. The amount that first
   * exceeds the limit is still counted.
   *
   * @returns whether the amount was counted
   */
  take(sender: { account: string; member: string }, amount: number, max: number): boolean
  /** Milliseconds until the window ends. */
  msLeft(): number
  readonly bytes: number
}

const rows = 4

/**
 * Creates a count-min sketch with conservative update. A sender's count is never too low. It is too
 * high by about the sum of all counts divided by `width`. This error is the same for all senders,
 * so the limit of a sender should be far above it. The hash is different in every process, so that
 * no sender can choose with whom it shares its cells.
 *
 * @param options.width cells per row, a power of two; each of the four rows has four bytes per cell
 */
export function createWindowSketch(options: {
  width: number
  windowMs: number
  clock: Pick<Clock, 'now'>
}): WindowSketch {
  const { width, windowMs, clock } = options
  const cells = new Uint32Array(width * rows)
  const places = new Uint32Array(rows)
  const [seed, step] = [randomInt(2 ** 31), randomInt(2 ** 31)]
  let endsAt = -Infinity

  /** Sets `places` to the cells of a sender. Upper and lower case are not distinguished. */
  function locate(account: string, member: string): void {
    let first = seed
    let second = step
    for (const text of [account, member]) {
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index) | 0x20
        first = Math.imul(first ^ code, 0x01000193)
        second = Math.imul(second ^ code, 0x5bd1e995)
        second ^= second >>> 15
      }
      // Marks the end of the text, so that account `a` with member `bc`, and account `ab` with
      // member `c`, have different hashes.
      first = Math.imul(first ^ 0x100, 0x01000193)
    }
    first = mix(first)
    second = mix(second) | 1
    for (let row = 0; row < rows; row++) {
      places[row] = row * width + (((first + Math.imul(row, second)) >>> 0) & (width - 1))
    }
  }

  return {
    bytes: cells.byteLength,
    msLeft: () => Math.max(0, endsAt - clock.now()),
    take({ account, member }, amount, max) {
      const now = clock.now()
      if (now >= endsAt) {
        cells.fill(0)
        endsAt = now + windowMs
      }
      locate(account, member)
      let count = Infinity
      for (const place of places) count = Math.min(count, cells[place] as number)
      if (count >= max) return false
      const counted = Math.min(count + amount, 0xffffffff)
      for (const place of places) cells[place] = Math.max(cells[place] as number, counted)
      return true
    },
  }
}

/** Mixes all bits of a hash into its lowest bits, because only the lowest bits select a cell. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
