import type { FleetCounters } from '@intake/gateway'

export function createMemoryCounters(
  now: () => number = () => performance.now(),
): Pick<FleetCounters, 'open'> {
  return {
    open(_name, windowMs) {
      let endsAt = -Infinity
      let total = 0
      return {
        add(amount) {
          if (now() >= endsAt) {
            endsAt = now() + windowMs
            total = 0
          }
          return (total = Math.max(0, total + amount))
        },
        total: () => (now() < endsAt ? total : 0),
        msLeft: () => Math.max(0, endsAt - now()),
        follow: () => undefined,
      }
    },
  }
}
