/** Divides an amount among accounts, so that no account can starve the others. */
export interface Shares {
  /** Whether the account can take `amount` more now. */
  hasRoom(account: string, amount: number): boolean
  /** Takes `amount` for the account. Returns false and takes nothing when it is not available. */
  take(account: string, amount: number): boolean
  giveBack(account: string, amount: number): void
}

/**
 * An account may hold this many times the amount that stays free. One greedy account gets two thirds,
 * two get two fifths each: a new account always finds capacity, which a fixed share per account could
 * not guarantee.
 */
const timesFree = 2

/** The part of the total that one account can hold while the others hold nothing. */
export const accountShare = timesFree / (timesFree + 1)

export function createShares(total: number): Shares {
  const held = new Map<string, number>()
  let free = total

  const hasRoom = (account: string, amount: number) =>
    (held.get(account) ?? 0) + amount <= timesFree * (free - amount)

  return {
    hasRoom,
    take(account, amount) {
      if (!hasRoom(account, amount)) return false
      free -= amount
      held.set(account, (held.get(account) ?? 0) + amount)
      return true
    },
    giveBack(account, amount) {
      free += amount
      const rest = (held.get(account) ?? 0) - amount
      if (rest > 0) held.set(account, rest)
      else held.delete(account)
    },
  }
}
