import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import type { TrustedProxies } from './trust-proxy.ts'

/**
 * Returns the address of the client: the last one in `X-Forwarded-For` that is no trusted proxy's,
 * if a trusted proxy connects; otherwise that of the connection. Of IPv6 the first 64 bits, because
 * one client can use all addresses that share them.
 */
export function createAddressOf(trusted: TrustedProxies): (request: IncomingMessage) => string {
  const isTrusted =
    'hops' in trusted
      ? (_address: string, hop: number) => hop < trusted.hops
      : (address: string) => trusted.proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

  return ({ socket, headers }) => {
    let address = withoutMapping(socket.remoteAddress ?? '')
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded !== 'string') return networkOf(address)
    let end = forwarded.length
    // Each proxy has appended the address of the client or proxy that connected to it.
    for (let hop = 0; end > 0 && isTrusted(address, hop); hop++) {
      const comma = forwarded.lastIndexOf(',', end - 1)
      const named = withoutPort(forwarded.slice(comma + 1, end).trim())
      if (isIP(named) === 0) break
      address = withoutMapping(named)
      end = comma
    }
    return networkOf(address)
  }
}

/** Removes the port, which some proxies append to the address. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
}

/** A socket for both IPv4 and IPv6 shows IPv4 addresses as `::ffff:192.0.2.1`. */
const withoutMapping = (address: string) => address.replace(/^::ffff:(?=[\d.]+$)/i, '')

function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail.split(':')
    groups.push(...Array.from({ length: 8 - groups.length - last.length }, () => '0'), ...last)
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
