import { Type } from 'typebox'

export { findRedisUrlProblems } from '@intake/redis/url'

/** `findRedisUrlProblems` checks the rest. */
export const redisUrl = Type.String({
  hasCredentials: true,
  pattern: '^rediss?(\\+(cluster|sentinel))?://',
  description:
    'redis://user:password@host:port, redis+cluster://user:password@host:port,host:port or ' +
    'redis+sentinel://user:password@host:port,host:port/name; with TLS rediss://, rediss+cluster://, ' +
    'rediss+sentinel:// (docs/deploy/redis.md).',
})
