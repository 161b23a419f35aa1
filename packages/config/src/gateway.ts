import { Type, type Static } from 'typebox'
import { limits } from '@intake/contract'
import { ConfigError } from '@intake/runtime'
import { findRedisUrlProblems, redisUrl } from './redis-url.ts'
import { accountShare, formBytesMax, logShare, nodeBytes } from './memory.ts'
import { keepMetadata } from './keep-metadata.ts'
import { findObjectStoreProblems, ObjectStoreConfig, s3Endpoint } from './object-store.ts'
import { parseCorsOrigins } from './origins.ts'
import { problemOf } from './problem-of.ts'
import { TracingConfig } from './tracing.ts'
import { parseTrustProxy, trustProxy } from './trust-proxy.ts'

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
    description:
      'Address that health checks and metrics are bound to. `internal` (Linux): all of IPv4 ' +
      'except those of interfaces with a default route.',
  }),
  GATEWAY_ADMIN_PORT: port(3001, 'Port of health checks and metrics; 0 picks a free one.'),
  REDIS_URL: redisUrl,
  REDIS_DURABILITY: Type.Union(
    [Type.Literal('strict'), Type.Literal('asserted'), Type.Literal('relaxed')],
    {
      default: 'strict',
      description:
        '`strict`: refuse records while Redis is configured so that it could lose them; `asserted`: the same, ' +
        'but if a managed Redis hides its settings, you assert that they are correct; `relaxed`: accept records ' +
        'nevertheless and log a warning.',
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
      'Number of shards of the log queue. In a Redis Cluster, set it to the number of masters, so that each stores a ' +
      'part. Workers and commands find all shards that were ever used, so it may be changed at any time and may ' +
      'differ among gateways meanwhile. Upgrade all workers before you first raise it.',
  }),
  S3_ENDPOINT: s3Endpoint,
  ...ObjectStoreConfig.properties,
  CLIENT_COUNTRY_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      description:
        'Header in which a proxy sends the country of the client as two letters, such as `cf-ipcountry`; stored in the ' +
        'column `country`. The proxy must replace what clients send in this header. Default: no country.',
    }),
  ),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Origins whose web pages may send, separated by commas, such as `https://app.example`, or `http://localhost:*` for any ' +
        'port; `*`: all. `npm start` allows pages of this machine. Pages of other origins get 403 `origin_not_allowed`. A key can have origins of its own (`intake keys create --origin`). ' +
        'Default: browsers let no page of another origin send, and nothing else changes.',
    }),
  ),
  TRUST_PROXY: Type.Optional(
    trustProxy('Preflight requests and failed authentications are limited by address.'),
  ),
  RATE_LIMIT_MAX: Type.Integer({
    minimum: 1,
    default: 600_000,
    description:
      'Requests that one API key may send in a minute, to all gateways together. A form, a batch and an event count as one. ' +
      'A key can have its own number instead of this one, and of the other numbers per minute except ' +
      '`DEVICE_FEEDBACK_PER_MINUTE_MAX` (`intake keys set`).',
  }),
  EVENTS_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 1_200_000,
    description:
      'Log events that one API key may send in a minute, to all gateways together; each entry of a batch counts.',
  }),
  LOG_BYTES_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 512 * mebibyte,
    description:
      'Bytes of JSON of log events, after decompression, that one API key may send in a minute, to all gateways together.',
  }),
  FEEDBACK_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 6_000,
    description: 'Feedback that one API key may send in a minute, to all gateways together.',
  }),
  ATTACHMENT_BYTES_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 1_024 * mebibyte,
    description:
      'Bytes of attachments that one API key may send in a minute, to all gateways together.',
  }),
  DEVICE_EVENTS_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 60_000,
    description:
      'Log events that one device may send in a minute to one gateway; beyond it the device gets 429, and its events do ' +
      'not count for its key.',
  }),
  DEVICE_FEEDBACK_PER_MINUTE_MAX: Type.Integer({
    minimum: 1,
    default: 120,
    description:
      'Feedback that one device may send in a minute to one gateway; each begun MiB of attachments counts like one more.',
  }),
  BATCH_BODY_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 4 * mebibyte,
    description:
      'Maximum size of a body of `POST /api/log/batch`, as it arrives. Decompressed it may have four times this size.',
  }),
  ATTACHMENT_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 10 * mebibyte,
    description: 'Maximum size of one attachment.',
  }),
  ATTACHMENT_PIXELS_MAX: Type.Integer({
    minimum: 1,
    default: 200_000_000,
    description: 'Maximum number of pixels of one attachment, its width times its height.',
  }),
  KEEP_METADATA: keepMetadata,
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
      'stops using it before it closes. Set it longer than the balancer takes to notice. The supervisor must allow ten ' +
      'seconds more before it kills the process.',
  }),
  ENQUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: limits.acceptanceMs.logs,
    default: 4_000,
    description:
      'Timeout for enqueueing a validated record, in milliseconds; also the timeout for reserving an ' +
      'idempotency key.',
  }),
  ...TracingConfig.properties,
})
export type GatewayConfig = Static<typeof GatewayConfig>

/** Returns the maximum size of the body of a batch after decompression, in bytes. */
export function batchJsonBytesMax(config: Pick<GatewayConfig, 'BATCH_BODY_BYTES_MAX'>): number {
  return 4 * config.BATCH_BODY_BYTES_MAX
}

/** The URL at which clients reach a gateway, without a slash at its end. */
export const publicUrlOf = ({ PUBLIC_URL, PORT }: Pick<GatewayConfig, 'PUBLIC_URL' | 'PORT'>) =>
  PUBLIC_URL ?? `http://127.0.0.1:${PORT}`

/** @throws {ConfigError} for settings that match the schema but are wrong or contradictory */
export function checkGatewayConfig(config: GatewayConfig): void {
  const problems = [
    ...findRedisUrlProblems(config.REDIS_URL),
    ...findObjectStoreProblems(config),
    ...problemOf(() => parseCorsOrigins(config.CORS_ORIGINS)),
    ...problemOf(() => parseTrustProxy(config.TRUST_PROXY)),
  ]
  /** One API key can use these shares of the bytes in flight: one for logs, one for forms. */
  const logs = logShare * accountShare
  const forms = (1 - logShare) * accountShare
  const needs = {
    'a log': (2 * limits.logBytes + nodeBytes * limits.jsonNodes) / logs,
    BATCH_BODY_BYTES_MAX:
      (config.BATCH_BODY_BYTES_MAX +
        2 * batchJsonBytesMax(config) +
        nodeBytes * limits.batchJsonNodes) /
      logs,
    ATTACHMENT_BYTES_MAX:
      (formBytesMax(config.ATTACHMENT_BYTES_MAX) + nodeBytes * limits.jsonNodes) / forms,
  }
  for (const [setting, bytes] of Object.entries(needs)) {
    if (bytes <= config.BYTES_IN_FLIGHT_MAX) continue
    problems.push(`BYTES_IN_FLIGHT_MAX must be at least ${Math.ceil(bytes)} for ${setting}`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
