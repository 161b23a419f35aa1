import { Type, type Static } from 'typebox'
import { ConfigError } from '@intake/runtime'
import {
  clickhouseCluster,
  clickhouseUrl,
  findRedisUrlProblems,
  internalHost,
  port,
  redisUrl,
} from './settings.ts'
import { TracingConfig } from './tracing.ts'

export const WorkerConfig = Type.Object({
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
})
export type WorkerConfig = Static<typeof WorkerConfig>

/** @throws {ConfigError} for settings that match the schema but are wrong or contradictory */
export function checkWorkerConfig(config: WorkerConfig): void {
  const problems = findRedisUrlProblems(config.REDIS_URL)
  const { CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: quorum } = config
  if (quorum !== undefined && cluster === undefined) {
    problems.push('CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER')
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
