import { lookup } from 'node:dns/promises'
import { withTimeout } from '@intake/runtime'
import type { Address } from './addresses.ts'

/** Resolves a host name to its IPv4 addresses; rejects when there are none. */
type Resolve = (hostname: string) => Promise<string[]>

const timeoutMs = 3_000

const resolveIpv4: Resolve = async (hostname) => {
  const found = lookup(hostname, { all: true, family: 4 })
  const addresses = await withTimeout(found, timeoutMs, 'resolving a host name')
  return addresses.map(({ address }) => address)
}

/**
 * A name with several addresses stands for several processes: such are the workers of Docker Compose and of a
 * headless service of Kubernetes. One that cannot be resolved stays as it is, so that asking it says why.
 */
export async function resolveProcesses(
  address: Address,
  resolve: Resolve = resolveIpv4,
): Promise<Address[]> {
  const { hostname, port, protocol } = new URL(address.url)
  // A certificate belongs to the name.
  if (protocol !== 'http:') return [address]
  const ips = await resolve(hostname).catch((): string[] => [])
  if (ips.length < 2) return [address]
  return ips
    .toSorted()
    .map((ip) => ({ ...address, url: new URL(`http://${ip}:${port || 80}`).origin }))
}
