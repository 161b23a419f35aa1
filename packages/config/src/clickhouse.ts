import { Type } from 'typebox'

export const clickhouseUrl = Type.String({
  hasCredentials: true,
  isFollowed: true,
  isUrlList: true,
  pattern: '^https?://',
  description:
    'http(s)://user:password@host:port; several URLs of one cluster, separated by commas.',
})

/**
 * The name of a ClickHouse cluster. The name is restricted, because statements contain it unquoted.
 */
export const clickhouseCluster = Type.String({
  pattern: '^[A-Za-z0-9_.-]+$',
  description:
    'The cluster that has the tables (docs/deploy/clickhouse.md), also for commands. Default: a single server.',
})
