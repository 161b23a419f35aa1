import { Type } from 'typebox'

export const clickhouseUrl = Type.String({
  hasCredentials: true,
  isFollowed: true,
  isUrlList: true,
  pattern: '^https?://',
  description:
    'http(s)://user:password@host:port. Several URLs, separated by commas, name servers of one cluster: while one does ' +
    'not respond, another is used.',
})

/**
 * The name of a ClickHouse cluster. The name is restricted, because statements contain it unquoted.
 */
export const clickhouseCluster = Type.String({
  pattern: '^[A-Za-z0-9_.-]+$',
  description:
    'The cluster that has the tables, by its name in `remote_servers` (docs/deploy/clickhouse.md). Default: a ' +
    'single server. The commands read it too.',
})
