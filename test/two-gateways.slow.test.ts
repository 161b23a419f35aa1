// All of these tests share one cluster, because its start takes half a minute. The rules come
// first, because they count every record; the last test ends a gateway.
await import('./two-gateways/rules.ts')
await import('./two-gateways/key-limits.ts')
await import('./two-gateways/gateway-process.ts')
