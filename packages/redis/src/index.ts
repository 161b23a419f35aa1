export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export { createConnectionCheck, reportWhileConnected, whileConnected } from './connection-check.ts'
export { createExamination, type Examination } from './examination.ts'
export * from './installation.ts'
export { inspectRedis, type RedisFacts, type RedisInspection } from './inspect.ts'
export { pollRedisState } from './poll-state.ts'
export * from './presence.ts'
export { addTo, createKeyCounts } from './key-counts.ts'
export { execAll, execEach, isDamaged } from './replies.ts'
export { credentialsOf, parseRedisUrl } from './redis-url.ts'
export type { RedisPoll, RedisState } from './state.ts'
export * from './durability/replica-acks.ts'
export { withRedis, withRedisTimeout } from './with-redis.ts'
export {
  mainTag,
  nameOf,
  primaryOf,
  requireConnection,
  tagOf,
  tagPerPrimary,
  titleOf,
} from './servers.ts'
export {
  describeRefusal,
  findWriteRefusal,
  isOutOfMemory,
  commandRetries,
  isRefusal,
  requireMemory,
} from './write-refusal.ts'
