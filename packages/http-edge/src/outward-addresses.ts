import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

/** Reads the IPv4 routes of this machine or container. Only Linux has this file. */
export const readRoutes = (): string => readFileSync('/proc/net/route', 'utf8')

/**
 * Returns the IPv4 addresses of this machine from which a route leads anywhere: those of interfaces
 * with a default route. In a container, networks that are `internal` have none.
 */
export function outwardAddresses(routes: string): ReadonlySet<string> {
  const names = routes.split('\n').flatMap((line) => {
    const [name = '', destination, , , , , , mask] = line.split('\t').map((text) => text.trim())
    return destination === '00000000' && mask === '00000000' ? [name] : []
  })
  const interfaces = networkInterfaces()
  return new Set(names.flatMap((name) => interfaces[name] ?? []).map(({ address }) => address))
}
