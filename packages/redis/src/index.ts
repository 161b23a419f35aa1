export { connectRedis, ReplyError, type Redis, type RedisRole } from './connect.ts'
export {
  claimInstallation,
  installationKey,
  readInstallation,
  watchRedis,
  type RedisState,
  type RedisWatch,
} from './watch.ts'
