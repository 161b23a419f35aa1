import { accountTimesFree } from '@intake/config'

/** Divides an amount among accounts, so that no account can starve the others. */
export interface Shares {
  /**
   * Whether the account can take `amount` more now. Including `amount`, the account may have at
   * most `accountTimesFree` times the amount that then remains free.
   */
  hasRoom(account: string, amount: number): boolean
  /**
   * Takes `amount` for the account. Returns false and takes nothing if `amount` is not available.
   */
  take(account: string, amount: number): boolean
  giveBack(account: string, amount: number): void
  /** The amount that all accounts together have taken. */
  used(): number
}

export function createShares(total: number): Shares {
  const held = new Map<string, number>()
  let free = total

  const hasRoom = (account: string, amount: number) =>
    (held.get(account) ?? 0) + amount <= accountTimesFree * (free - amount)

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
    used: () => total - free,
  }
}
