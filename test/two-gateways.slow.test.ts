// These tests share one cluster, because its start takes half a minute. `gateway-process.ts` comes
// last, because it ends a gateway.
await import('./two-gateways/changes.ts')
await import('./two-gateways/gateway-process.ts')
