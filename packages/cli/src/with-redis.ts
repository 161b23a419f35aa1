import { withRedis as withConnection, type Redis } from '@intake/redis'
import { findEndpoint } from './endpoints.ts'

const timeoutMs = 10_000

/** Runs `work`, which takes seconds at most, with a connection to Redis, and closes it. */
export const withRedis = <T>(work: (redis: Redis) => Promise<T>): Promise<T> =>
  withConnection({ url: findEndpoint('REDIS_URL'), timeoutMs }, work)
