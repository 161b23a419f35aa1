import { Type, type Static } from 'typebox'

/** Settings of the worker, by the name of their environment variable. */
export const WorkerConfig = Type.Object({
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that health checks and metrics are bound to.',
  }),
  WORKER_ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3002,
    description: 'Port of health checks and metrics; 0 picks a free one.',
  }),
  REDIS_URL: Type.String({
    pattern: '^rediss?://',
    description: 'redis:// or rediss:// URL with credentials.',
  }),
  CLICKHOUSE_URL: Type.String({
    pattern: '^https?://',
    description: 'http(s)://user:password@host:port',
  }),
  INSERT_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    default: 60_000,
    description:
      'Timeout of one insert, in milliseconds; then it counts as failed and is repeated.',
  }),
  CLOCK_SKEW_MAX_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description:
      'The largest CLOCK_SKEW_MAX_MS of the gateways, in milliseconds: `intake.watermark` stays so far ' +
      'behind.',
  }),
})
export type WorkerConfig = Static<typeof WorkerConfig>
