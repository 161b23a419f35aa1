export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export {
  readInstallation,
  watchRedis,
  writeInstallation,
  type RedisState,
  type RedisWatch,
} from './watch.ts'
