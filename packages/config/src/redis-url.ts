import { Type } from 'typebox'
import { findRedisUrlProblems } from '@intake/redis/url'

export { findRedisUrlProblems }

/** The URL of Redis. Its pattern is only a first check; `findRedisUrlProblems` checks the rest. */
export const redisUrl = Type.String({
  hasCredentials: true,
  isFollowed: true,
  findProblems: findRedisUrlProblems,
  pattern: '^rediss?(\\+(cluster|sentinel))?://',
  description:
    'redis://user:password@host:port, redis+cluster://user:password@host:port,host:port or ' +
    'redis+sentinel://user:password@host:port,host:port/name; with TLS rediss://, rediss+cluster://, ' +
    'rediss+sentinel:// (docs/deploy/redis.md).',
})
