export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export { createConnectionCheck, whileConnected } from './connection-check.ts'
export {
  claimInstallation,
  installationKey,
  readInstallation,
  readInstallationHash,
} from './installation.ts'
export { inspectRedis, type RedisFacts } from './inspect.ts'
export { pollRedisState, type RedisPoll } from './poll-state.ts'
export type { RedisState } from './state.ts'
export { retryCommand } from './retry-command.ts'
export { execAll } from './exec-all.ts'
export { describeRefusal, findWriteRefusal, isOutOfMemory } from './write-refusal.ts'
