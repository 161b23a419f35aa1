import { createRandom as createNext } from '@intake/test-kit/random'

export interface Random {
  /** A whole number from 0 up to `limit`, exclusive. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Random numbers that depend only on the seed. */
export function createRandom(seed: number): Random {
  const next = createNext(seed)
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick(list) {
      if (list.length === 0) throw new Error('Nothing to pick from')
      return list[Math.floor(next() * list.length)]!
    },
  }
}
