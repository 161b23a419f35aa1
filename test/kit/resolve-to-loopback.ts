import dns from 'node:dns'
import type { Test } from 'tap'

/** Resolves every name to this machine, because not every system resolves names below localhost. */
export function resolveToLoopback(t: Test, addresses = ['127.0.0.1']): void {
  const { lookup } = dns
  const found = addresses.map((address) => ({ address, family: 4 }))
  t.teardown(() => Object.assign(dns, { lookup }))
  Object.assign(dns, {
    lookup: (_: string, options: dns.LookupOptions, done: (...results: unknown[]) => void) =>
      options.all ? done(null, found) : done(null, addresses[0], 4),
  })
}
