import { parseRedisUrl } from '@intake/redis/url'
import { Type } from 'typebox'

// Settings that several processes have.

export const adminHost = (description: string) => Type.String({ default: '127.0.0.1', description })

export const internalHost = adminHost(
  'Address of health checks and metrics. `internal` (Linux): all of IPv4 except interfaces with a default route.',
)

export const port = (preset: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: preset, description })

/** The URL of Redis. Its pattern is only a first check. */
export const redisUrl = Type.String({
  hasCredentials: true,
  isFollowed: true,
  findProblems: (url: string) => problemOf(() => parseRedisUrl(url)),
  pattern: '^rediss?(\\+(cluster|sentinel))?://',
  description:
    'redis://user:password@host:port, redis+cluster://user:password@host:port,host:port or ' +
    'redis+sentinel://user:password@host:port,host:port/name; with TLS rediss://, rediss+cluster://, ' +
    'rediss+sentinel:// (docs/deploy/redis.md).',
})

export const clickhouseUrl = Type.String({
  hasCredentials: true,
  isFollowed: true,
  isUrlList: true,
  pattern: '^https?://',
  description:
    'http(s)://user:password@host:port; several URLs of one cluster, separated by commas.',
})

/** The name of a ClickHouse cluster. It is restricted, because statements contain it unquoted. */
export const clickhouseCluster = Type.String({
  pattern: '^[A-Za-z0-9_.-]+$',
  description:
    'The cluster that has the tables (docs/deploy/clickhouse.md), also for commands. Default: a single server.',
})

export const keepMetadata = Type.Boolean({
  default: false,
  description:
    '`true`: attachments are stored as they were sent, with positions and comments (docs/pictures.md). Set it for consoles too.',
})

/**
 * Calls a function that reads a setting, and throws a `RangeError` if it is wrong. Returns its
 * message as a list; empty if there is none.
 */
export function problemOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof RangeError) return [error.message]
    throw error
  }
}
