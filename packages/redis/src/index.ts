export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
