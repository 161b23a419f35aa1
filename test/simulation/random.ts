export interface Random {
  /** A whole number from 0 up to `limit`, exclusive. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Random numbers that depend only on the seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick(list) {
      if (list.length === 0) throw new Error('Nothing to pick from')
      return list[Math.floor(next() * list.length)]!
    },
  }
}
