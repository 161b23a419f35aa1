import { BlockList, isIPv6 } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

export const isLoopbackAddress = (address = ''): boolean =>
  loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * A foreign site can make its own name resolve to 127.0.0.1 (DNS rebinding); the browser then
 * treats servers there as part of that site, but sends its name as `Host`.
 */
export const isLoopbackHost = (host = ''): boolean => loopbackHost.test(host)
