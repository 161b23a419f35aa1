import {
  clickhouseCluster,
  clickhouseUrl,
  ConsoleConfig,
  GatewayConfig,
  ObjectStoreConfig,
  port,
  redisUrl,
  s3Endpoint,
  WorkerConfig,
} from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { ConfigError, problemsOf } from '@intake/runtime'
import { type Static, type TString, Type } from 'typebox'

/** A setting that the gateway and the worker also have, with a description for the stack. */
const external = (setting: TString, description: string) =>
  Type.Optional(Type.String({ ...setting, description }))

/** Settings of the stack, named like their environment variables. Port 0 picks a free port. */
export const StackConfig = Type.Object({
  PORT: port(
    3000,
    'Port of the gateway. A port of this list that is not set, but in use, is replaced by a free one.',
  ),
  GATEWAY_ADMIN_PORT: port(3001, 'Port for health checks and metrics of the gateway.'),
  WORKER_ADMIN_PORT: port(
    3002,
    'Port for health checks and metrics of the first worker; the others use free ports.',
  ),
  CONSOLE_ADMIN_PORT: port(
    3004,
    'Port of the page, and for health checks and metrics of the console.',
  ),
  REDIS_PORT: port(16_379, 'Port of the embedded Redis.'),
  CLICKHOUSE_PORT: port(18_123, 'HTTP port of the embedded ClickHouse.'),
  S3_PORT: port(19_000, 'Port of the embedded S3 server.'),
  WORKERS: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 1,
    description: 'Number of worker processes.',
  }),
  INTAKE_DATA_DIR: Type.String({
    default: '.intake',
    description: 'Folder for all data, logs and secrets.',
  }),
  INTAKE_API_KEY: Type.Optional(
    Type.String({
      writeOnly: true,
      minLength: 16,
      description: 'API key to create at start, instead of a generated one.',
    }),
  ),
  REDIS_URL: external(
    redisUrl,
    'Replaces the embedded Redis. All forms that gateway and worker accept are possible.',
  ),
  CLICKHOUSE_URL: external(clickhouseUrl, 'Replaces the embedded ClickHouse.'),
  CLICKHOUSE_SERVER: Type.Optional(
    Type.String({
      description:
        'Path of a program `clickhouse` that runs instead of the embedded engine. `npm start` finds one on the PATH if the lockfile has no engine for the machine.',
    }),
  ),
  CLICKHOUSE_CLUSTER: external(
    clickhouseCluster,
    'The cluster that `CLICKHOUSE_URL` belongs to. Default: it is a single server.',
  ),
  S3_ENDPOINT: external(
    s3Endpoint,
    'Replaces the embedded S3 server. Same form as for the gateway.',
  ),
  ...ObjectStoreConfig.properties,
  REDIS_MAXMEMORY: Type.String({
    default: '512mb',
    pattern: '^[0-9]+([kmg]b?)?$',
    description: 'Memory limit of the embedded Redis, in Redis notation.',
  }),
})
export type StackConfig = Static<typeof StackConfig>

/** URLs for checking the settings of the services, in place of those of the embedded engines. */
const embedded = {
  REDIS_URL: 'redis://127.0.0.1',
  CLICKHOUSE_URL: 'http://127.0.0.1',
  S3_ENDPOINT: 'http://key:secret@127.0.0.1',
}

/** Also checks the settings of the processes, so that nothing starts if one is wrong. */
export function readConfig(env: NodeJS.ProcessEnv): StackConfig {
  const unset = Object.entries(embedded).filter(([name]) => !env[name] && !env[`${name}_FILE`])
  const ofServices = { ...env, ...Object.fromEntries(unset) }
  const problems = [
    () => loadConfig(StackConfig, env),
    () => loadConfig(GatewayConfig, ofServices),
    () => loadConfig(WorkerConfig, ofServices),
    () => loadConfig(ConsoleConfig, ofServices),
  ].flatMap((load) => problemsOf(load))
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  return loadConfig(StackConfig, env)
}
