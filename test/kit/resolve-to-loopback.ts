import dns from 'node:dns'
import type { Test } from 'tap'

/** Resolves every name to this machine, because not every system resolves names below localhost. */
export function resolveToLoopback(t: Test): void {
  const { lookup } = dns
  t.teardown(() => Object.assign(dns, { lookup }))
  Object.assign(dns, {
    lookup: (_: string, options: dns.LookupOptions, done: (...found: unknown[]) => void) =>
      options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
  })
}
