const periodMs = 60_000
const perPeriod = 10
/** Beyond it the oldest address is forgotten. */
const addressesMax = 1_000

/** Counts wrong passwords by the client's address: ten in a minute. */
export function createWrongPasswords(now: () => number = () => performance.now()) {
  const byAddress = new Map<string, number[]>()
  const recent = (address: string) =>
    (byAddress.get(address) ?? []).filter((at) => now() - at < periodMs)

  return {
    areTooMany: (address: string) => recent(address).length >= perPeriod,
    add(address: string): void {
      const times = [...recent(address), now()]
      byAddress.delete(address)
      byAddress.set(address, times)
      const [oldest] = byAddress.keys()
      if (byAddress.size > addressesMax && oldest !== undefined) byAddress.delete(oldest)
    },
  }
}
