import { loadConfig } from '@intake/runtime'
import { type Static, Type } from 'typebox'

const port = (preset: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: preset, description })

const externalUrl = (pattern: string, description: string) =>
  Type.Optional(Type.String({ pattern, description }))

/** Settings of the stack, by the name of their environment variable. Port 0 picks a free one. */
export const StackConfig = Type.Object({
  PORT: port(3000, 'Port of the gateway.'),
  GATEWAY_ADMIN_PORT: port(3001, 'Port of the health checks and metrics of the gateway.'),
  WORKER_ADMIN_PORT: port(
    3002,
    'The same of the first worker; the others take the next free ones.',
  ),
  REDIS_PORT: port(16_379, 'Port of the embedded Redis.'),
  CLICKHOUSE_PORT: port(18_123, 'HTTP port of the embedded ClickHouse.'),
  S3_PORT: port(19_000, 'Port of the embedded S3 server.'),
  WORKERS: Type.Integer({ minimum: 0, maximum: 64, default: 1, description: 'Worker processes.' }),
  ACCEPT_EMPTY_REDIS: Type.Boolean({
    default: false,
    description: 'Go on although Redis has lost what it held.',
  }),
  INTAKE_DATA_DIR: Type.String({
    default: '.intake',
    description: 'Holds all data, logs, secrets.',
  }),
  INTAKE_API_KEY: Type.Optional(
    Type.String({
      minLength: 16,
      description: 'A key to create at start, instead of a generated.',
    }),
  ),
  REDIS_URL: externalUrl('^rediss?://', 'Replaces the embedded Redis.'),
  CLICKHOUSE_URL: externalUrl('^https?://', 'Replaces the embedded ClickHouse.'),
  S3_ENDPOINT: externalUrl('^https?://', 'http(s)://ACCESS_KEY:SECRET_KEY@host:port, replaces S3.'),
  S3_BUCKET: Type.String({ default: 'intake', description: 'Bucket of the attachments.' }),
  S3_REGION: Type.String({ default: 'us-east-1', description: 'Region of the bucket.' }),
  REDIS_MAXMEMORY: Type.String({
    default: '512mb',
    pattern: '^[0-9]+([kmg]b?)?$',
    description: 'Memory limit of the embedded Redis, in its own notation.',
  }),
})
export type StackConfig = Static<typeof StackConfig>

/** @throws {ConfigError} one error for all problems, names only */
export function readConfig(env: NodeJS.ProcessEnv): StackConfig {
  return loadConfig(StackConfig, env)
}
