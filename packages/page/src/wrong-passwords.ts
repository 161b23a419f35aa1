const periodMs = 60_000
const perPeriod = 10
/** Beyond it the oldest address is forgotten. */
const addressesMax = 1_000

/**
 * Of all addresses together: whoever can choose an address, or has many, gets no more tries than
 * this.
 */
const perPeriodOfAll = 100

/** Counts wrong passwords in a minute: ten by the client's address, a hundred of all. */
export function createWrongPasswords(now: () => number = () => performance.now()) {
  const byAddress = new Map<string, number[]>()
  let all: number[] = []
  const recent = (address: string) =>
    (byAddress.get(address) ?? []).filter((at) => now() - at < periodMs)

  return {
    areTooMany: (address: string) =>
      recent(address).length >= perPeriod ||
      all.filter((at) => now() - at < periodMs).length >= perPeriodOfAll,
    add(address: string): void {
      // Concurrent requests were let through before; more than the limit need not be remembered.
      all = [...all, now()].slice(-perPeriodOfAll)
      const times = [...recent(address), now()]
      byAddress.delete(address)
      byAddress.set(address, times)
      const [oldest] = byAddress.keys()
      if (byAddress.size > addressesMax && oldest !== undefined) byAddress.delete(oldest)
    },
  }
}
