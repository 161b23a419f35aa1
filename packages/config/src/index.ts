export { clickhouseCluster, clickhouseUrl } from './clickhouse.ts'
export { batchJsonBytesMax, checkGatewayConfig, GatewayConfig } from './gateway.ts'
export { accountShare, accountTimesFree, formBytesMax, logShare, nodeBytes } from './memory.ts'
export {
  findObjectStoreProblems,
  ObjectStoreConfig,
  objectStoreSettings,
  s3Endpoint,
} from './object-store.ts'
export { parseCorsOrigins, type AllowedOrigins } from './origins.ts'
export { redisUrl } from './redis-url.ts'
export { TracingConfig } from './tracing.ts'
export { parseTrustProxy, type TrustedProxies } from './trust-proxy.ts'
export { checkWorkerConfig, WorkerConfig } from './worker.ts'
