export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export { createConnectionCheck, whileConnected } from './connection-check.ts'
export { createExamination, type Examination } from './examination.ts'
export * from './installation.ts'
export { inspectRedis, type RedisFacts, type RedisInspection } from './inspect.ts'
export { pollRedisState } from './poll-state.ts'
export type { ReplicaReading } from './durability/replicas.ts'
export * from './presence.ts'
export * from './reports.ts'
export { parseRedisUrl, RedisUrlError, type RedisAddress } from './redis-url.ts'
export type { RedisPoll, RedisState } from './state.ts'
export * from './durability/replica-acks.ts'
export { withRedis } from './with-redis.ts'
export { withRedisTimeout } from './with-redis-timeout.ts'
export { readCounts } from './read-counts.ts'
export { isDamaged } from './reply-code.ts'
export {
  mainTag,
  nameOf,
  primaryOf,
  requireConnection,
  tagOf,
  tagPerPrimary,
  titleOf,
} from './servers.ts'
export { execAll } from './exec-all.ts'
export {
  describeRefusal,
  findWriteRefusal,
  isOutOfMemory,
  commandRetries,
  isRefusal,
  requireMemory,
} from './write-refusal.ts'
