import { Type, type Static } from 'typebox'
import { clickhouseCluster, clickhouseUrl, internalHost, port, redisUrl } from './settings.ts'
import { TracingConfig } from './tracing.ts'

const properties = {
  ADMIN_HOST: internalHost,
  WORKER_ADMIN_PORT: port(3002, 'Port of health checks and metrics; 0 picks a free one.'),
  REDIS_URL: redisUrl,
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_CLUSTER: Type.Optional(clickhouseCluster),
  CLICKHOUSE_INSERT_QUORUM: Type.Optional(
    Type.String({
      pattern: '^(auto|[2-9])$',
      description:
        'How many replicas of a shard must have a row before its record leaves Redis; `auto`: more than half. Default: one.',
    }),
  ),
  INSERT_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    default: 60_000,
    description: 'Timeout of one insert, in milliseconds; then it is repeated.',
  }),
  ...TracingConfig.properties,
}
export const WorkerConfig = Type.Object(properties, { findProblems })
export type WorkerConfig = Static<typeof WorkerConfig>

function findProblems(config: WorkerConfig): string[] {
  const { CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: quorum } = config
  return quorum !== undefined && cluster === undefined
    ? ['CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER']
    : []
}
