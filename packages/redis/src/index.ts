export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export { createConnectionCheck } from './connection-check.ts'
export {
  claimInstallation,
  installationKey,
  readInstallation,
  readInstallationHash,
} from './installation.ts'
export { pollRedisState } from './poll-state.ts'
export type { RedisState } from './state.ts'
export { retryCommand } from './retry-command.ts'
export { execAll } from './exec-all.ts'
export { findWriteRefusal, isOutOfMemory } from './write-refusal.ts'
