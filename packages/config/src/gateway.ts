import { Type, type Static } from 'typebox'
import { limits } from '@intake/contract'
import { ConfigError, ownPorts } from '@intake/runtime'
import { findRedisUrlProblems, redisUrl } from './redis-url.ts'
import { accountShare, formBytesMax, logShare, nodeBytes } from './memory.ts'
import { findObjectStoreProblems, ObjectStoreConfig, s3Endpoint } from './object-store.ts'
import { TracingConfig } from './tracing.ts'

const port = (preset: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: preset, description })

const mebibyte = 1024 * 1024

/** Settings of the gateway, by the name of their environment variable. */
export const GatewayConfig = Type.Object({
  HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that the public interface is bound to.',
  }),
  PORT: port(3000, 'Port of the public interface; 0 picks a free one.'),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
      description:
        'URL at which clients reach the gateway, for `/openapi.json` and `/docs`; with the prefix of a proxy, without ' +
        'a slash at the end. Default: `PORT` on this machine.',
    }),
  ),
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that health checks and metrics are bound to.',
  }),
  GATEWAY_ADMIN_PORT: port(3001, 'Port of health checks and metrics; 0 picks a free one.'),
  OWN_PORTS: ownPorts,
  REDIS_URL: redisUrl,
  REDIS_DURABILITY: Type.Union(
    [Type.Literal('strict'), Type.Literal('asserted'), Type.Literal('relaxed')],
    {
      default: 'strict',
      description:
        '`strict`: refuse records while Redis is configured so that it could lose them; `asserted`: the same, for ' +
        'a Redis that does not let its settings be read (managed ones): you assert that they are right; ' +
        '`relaxed`: accept them and log a warning.',
    },
  ),
  REDIS_ACK_REPLICAS: Type.Integer({
    minimum: 0,
    maximum: 5,
    default: 0,
    description:
      'How many replicas of Redis must have a record before it is acknowledged (docs/operations/redis-failover.md). ' +
      'A primary with fewer replicas gets no records.',
  }),
  QUEUE_SHARDS: Type.Integer({
    minimum: 1,
    maximum: 16,
    default: 1,
    description:
      'Shards of the log queue. In a Redis Cluster, as many as it has masters lets each take its part. Workers and ' +
      'commands find all shards that were ever used, so it may be changed at any time, and differ among gateways ' +
      'meanwhile. Upgrade all workers before it is first raised.',
  }),
  S3_ENDPOINT: s3Endpoint,
  ...ObjectStoreConfig.properties,
  CLIENT_COUNTRY_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      description:
        'Header with the country of the client as two letters, such as `cf-ipcountry`, kept as the column ' +
        '`country`. Only a proxy that replaces what clients send in it may set it. Default: no country.',
    }),
  ),
  RATE_LIMIT_MAX: Type.Integer({
    minimum: 1,
    default: 600_000,
    description:
      'Requests that one API key may send in a minute, to all gateways together. A form, a batch and an event count as one.',
  }),
  LOG_BODY_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: mebibyte,
    description: 'Maximum size of a body of `POST /api/log`, both compressed and decompressed.',
  }),
  BATCH_BODY_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 4 * mebibyte,
    description: 'Maximum size of a body of `POST /api/log/batch`, as it arrives.',
  }),
  BATCH_JSON_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 16 * mebibyte,
    description: 'Maximum size of a body of `POST /api/log/batch`, after decompression.',
  }),
  ATTACHMENT_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 10 * mebibyte,
    description: 'Maximum size of one attachment.',
  }),
  BYTES_IN_FLIGHT_MAX: Type.Integer({
    minimum: 1,
    default: 256 * mebibyte,
    description:
      'Maximum bytes of requests held in memory at once: three tenths for logs, the rest for ' +
      'feedback. Beyond it, requests get 503 `busy`. One API key gets at most two thirds of each part; ' +
      'the largest batch and the largest form must fit into that.',
  }),
  CONNECTIONS_MAX: Type.Integer({
    minimum: 2,
    default: 2_000,
    description:
      'Maximum number of open connections, and of requests in flight. Idle connections are closed to ' +
      'make room for new ones, those without an API key first.',
  }),
  DRAIN_MS: Type.Integer({
    minimum: 0,
    maximum: 300_000,
    default: 0,
    description:
      'How long after SIGTERM the gateway serves as usual while `/readyz` responds 503, so that a load balancer ' +
      'takes it out before it closes. Longer than the balancer takes to notice; the supervisor must wait ten seconds more.',
  }),
  ENQUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: limits.acceptanceMs.logs,
    default: 4_000,
    description:
      'Timeout for enqueueing a validated record, in milliseconds; also the timeout for reserving an ' +
      'idempotency key.',
  }),
  STORAGE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'Timeout for storing one attachment, including retries, in milliseconds.',
  }),
  ...TracingConfig.properties,
})
export type GatewayConfig = Static<typeof GatewayConfig>

/** @throws {ConfigError} for settings that are valid individually but contradict each other */
export function checkGatewayConfig(config: GatewayConfig): void {
  const problems = [...findRedisUrlProblems(config.REDIS_URL), ...findObjectStoreProblems(config)]
  /** The amount of each part that one API key can use. */
  const logs = logShare * accountShare
  const forms = (1 - logShare) * accountShare
  const needs = {
    LOG_BODY_BYTES_MAX: (2 * config.LOG_BODY_BYTES_MAX + nodeBytes * limits.jsonNodes) / logs,
    'BATCH_BODY_BYTES_MAX and BATCH_JSON_BYTES_MAX':
      (config.BATCH_BODY_BYTES_MAX +
        2 * config.BATCH_JSON_BYTES_MAX +
        nodeBytes * limits.batchJsonNodes) /
      logs,
    ATTACHMENT_BYTES_MAX:
      (formBytesMax(config.ATTACHMENT_BYTES_MAX) + nodeBytes * limits.jsonNodes) / forms,
  }
  for (const [setting, bytes] of Object.entries(needs)) {
    if (bytes <= config.BYTES_IN_FLIGHT_MAX) continue
    problems.push(`BYTES_IN_FLIGHT_MAX must be at least ${Math.ceil(bytes)} for ${setting}`)
  }
  const { STORAGE_TIMEOUT_MS: storageMs, ENQUEUE_TIMEOUT_MS: enqueueMs } = config
  // A feedback stores its images and is enqueued. In addition it reserves its key first or, without
  // a key, removes its images after a failure.
  const processingMs = storageMs + enqueueMs + Math.max(storageMs, enqueueMs)
  if (processingMs > limits.acceptanceMs.feedback) {
    problems.push(
      `STORAGE_TIMEOUT_MS, ENQUEUE_TIMEOUT_MS and the longer of the two again must be at most ` +
        `${limits.acceptanceMs.feedback}: a feedback that takes longer is not acknowledged`,
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
