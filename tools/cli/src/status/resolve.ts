import { lookup } from 'node:dns/promises'
import { withTimeout } from '@intake/runtime'
import type { Address } from './addresses.ts'

type Resolve = (hostname: string) => Promise<string[]>

const timeoutMs = 3_000

const resolveIpv4: Resolve = async (hostname) => {
  const found = lookup(hostname, { all: true, family: 4 })
  const addresses = await withTimeout(found, timeoutMs, 'resolving a host name')
  return addresses.map(({ address }) => address)
}

/**
 * Each address of a name is a process, in Docker Compose and of headless services in Kubernetes. A
 * name that cannot be resolved is kept, so that its request says why.
 */
export async function resolveProcesses(
  address: Address,
  resolve: Resolve = resolveIpv4,
): Promise<Address[]> {
  const { hostname, port, protocol } = new URL(address.url)
  // With TLS the name is kept, because the certificate is issued for the name.
  if (protocol !== 'http:') return [address]
  const ips = await resolve(hostname).catch((): string[] => [])
  if (ips.length < 2) return [address]
  return ips.toSorted().map((ip) => ({ ...address, url: new URL(`http://${ip}:${port}`).origin }))
}
