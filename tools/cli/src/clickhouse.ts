import {
  withClickHouse as withConnection,
  type ClickHouse,
  type ClickHouseOptions,
} from '@intake/clickhouse'
import { clickhouseCluster, clickhouseUrl } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'
import { findEndpoint } from './endpoints.ts'

const patienceMs = 30_000
const responseMs = 10_000

const ClickHouseConfig = Type.Object({
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_CLUSTER: Type.Optional(clickhouseCluster),
})

/** @throws {UsageError | ConfigError} one error that names all problems of these settings */
export async function findClickHouse(): Promise<{ url: string; cluster: string | undefined }> {
  const { CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster } = loadConfig(ClickHouseConfig, {
    CLICKHOUSE_URL: await findEndpoint('CLICKHOUSE_URL'),
    CLICKHOUSE_CLUSTER: process.env['CLICKHOUSE_CLUSTER'],
  })
  return { url, cluster }
}

/**
 * Before work that may wait for minutes or hours, asks for a response: a server that hangs ends the
 * command soon.
 *
 * @throws {UsageError | ConfigError} like `findClickHouse`
 */
export async function withClickHouse<T>(
  work: (clickhouse: ClickHouse) => Promise<T>,
  options: Pick<ClickHouseOptions, 'requestTimeoutMs' | 'connectionsMax' | 'logQueries'> = {},
): Promise<T> {
  const server = await findClickHouse()
  if ((options.requestTimeoutMs ?? 0) > patienceMs) {
    await withConnection({ ...server, requestTimeoutMs: responseMs }, (clickhouse) =>
      clickhouse.query('SELECT 1'),
    )
  }
  return withConnection({ ...server, ...options }, work)
}
