export { checkGatewayConfig, GatewayConfig } from './gateway.ts'
export { accountShare, accountTimesFree, formBytesMax, logShare, nodeBytes } from './memory.ts'
export {
  findObjectStoreProblems,
  ObjectStoreConfig,
  objectStoreSettings,
} from './object-store.ts'
export { TracingConfig } from './tracing.ts'
export { checkWorkerConfig, WorkerConfig } from './worker.ts'
