// All of these tests share one cluster, because its start takes half a minute. `rules.ts` comes
// first, because it counts every record. `gateway-process.ts` comes last, because it ends a
// gateway.
await import('./two-gateways/rules.ts')
await import('./two-gateways/key-limits.ts')
await import('./two-gateways/gateway-process.ts')
