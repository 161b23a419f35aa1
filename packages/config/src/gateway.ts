import { Type, type Static } from 'typebox'
import { batchJsonBytesMax, limits } from '@intake/contract'
import { accountShare, formBytesMax, logShare } from './memory.ts'
import { findObjectStoreProblems, ObjectStoreConfig, s3Endpoint } from './object-store.ts'
import { parseCorsOrigins } from './origins.ts'
import { internalHost, keepMetadata, port, problemOf, redisUrl } from './settings.ts'
import { TracingConfig } from './tracing.ts'
import { trustProxy } from './trust-proxy.ts'

const positive = (preset: number, description: string) =>
  Type.Integer({ minimum: 1, default: preset, description })

const mebibyte = 1024 * 1024

const properties = {
  HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that the public interface is bound to.',
  }),
  PORT: port(3000, 'Port of the public interface; 0 picks a free one.'),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
      description:
        'URL at which clients reach the gateway, for `/openapi.json` and `/docs`, without a slash at the end. Default: `PORT` on this machine.',
    }),
  ),
  ADMIN_HOST: internalHost,
  GATEWAY_ADMIN_PORT: port(3001, 'Port of health checks and metrics; 0 picks a free one.'),
  REDIS_URL: redisUrl,
  REDIS_DURABILITY: Type.Union(
    [Type.Literal('strict'), Type.Literal('asserted'), Type.Literal('relaxed')],
    {
      default: 'strict',
      description:
        '`strict`: refuse records while Redis could lose them; `asserted`: the same, but you assert what a managed Redis hides; `relaxed`: accept them with a warning.',
    },
  ),
  REDIS_ACK_REPLICAS: Type.Integer({
    minimum: 0,
    maximum: 5,
    default: 0,
    description:
      'How many replicas of Redis must have a record before it is acknowledged (docs/operations/redis-failover.md).',
  }),
  QUEUE_SHARDS: Type.Integer({
    minimum: 1,
    maximum: 16,
    default: 1,
    description:
      'Shards of the log queue, only in a Redis Cluster: the number of its masters. May be changed at any time, and differ among gateways meanwhile.',
  }),
  S3_ENDPOINT: s3Endpoint,
  ...ObjectStoreConfig.properties,
  CLIENT_COUNTRY_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      description:
        'Header in which a proxy sends the country of the client as two letters, such as `cf-ipcountry`. The proxy must replace what clients send in it. Default: no country.',
    }),
  ),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      minLength: 1,
      findProblems: (text: string) => problemOf(() => parseCorsOrigins(text)),
      description:
        'Origins whose web pages may send, separated by commas, such as `https://app.example`, or `http://localhost:*` for any port; `*`: all. Pages of other origins get 403 `origin_not_allowed`. Default: no page of another origin (docs/browsers.md).',
    }),
  ),
  TRUST_PROXY: Type.Optional(
    trustProxy('Preflight requests and failed authentications are limited by address.'),
  ),
  RATE_LIMIT_MAX: positive(
    600_000,
    'Requests that one API key may send in a minute, to all gateways together. A key can have its own limits instead of these (`intake keys set`).',
  ),
  EVENTS_PER_MINUTE_MAX: positive(
    1_200_000,
    'Log events of one API key in a minute; each entry of a batch counts.',
  ),
  LOG_BYTES_PER_MINUTE_MAX: positive(
    512 * mebibyte,
    'Bytes of JSON of log events, decompressed, of one API key in a minute.',
  ),
  FEEDBACK_PER_MINUTE_MAX: positive(6_000, 'Feedback of one API key in a minute.'),
  ATTACHMENT_BYTES_PER_MINUTE_MAX: positive(
    1_024 * mebibyte,
    'Bytes of attachments of one API key in a minute.',
  ),
  DEVICE_EVENTS_PER_MINUTE_MAX: positive(
    60_000,
    'Log events of one device in a minute to one gateway; what is beyond does not count for its key.',
  ),
  DEVICE_FEEDBACK_PER_MINUTE_MAX: positive(
    120,
    'Feedback of one device in a minute to one gateway; each begun MiB of attachments counts like one more.',
  ),
  BATCH_BODY_BYTES_MAX: positive(
    4 * mebibyte,
    'Maximum size of a body of `POST /api/log/batch`, as it arrives; decompressed four times this.',
  ),
  ATTACHMENT_BYTES_MAX: positive(10 * mebibyte, 'Maximum size of one attachment.'),
  ATTACHMENT_PIXELS_MAX: positive(200_000_000, 'Maximum number of pixels of one attachment.'),
  KEEP_METADATA: keepMetadata,
  BYTES_IN_FLIGHT_MAX: positive(
    256 * mebibyte,
    'Maximum bytes of requests held in memory: three tenths for logs, the rest for feedback; one API key gets two thirds of each. Beyond it, requests get 503 `busy`.',
  ),
  CONNECTIONS_MAX: Type.Integer({
    minimum: 2,
    default: 2_000,
    description:
      'Maximum number of open connections, and of requests in flight. Idle ones, first those without an API key, make room for new ones.',
  }),
  DRAIN_MS: Type.Integer({
    minimum: 0,
    maximum: 300_000,
    default: 0,
    description:
      'How long after SIGTERM the gateway serves while `/readyz` responds 503, until a load balancer has noticed. The supervisor must allow ten seconds more.',
  }),
  ENQUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: limits.acceptanceMs.logs,
    default: 4_000,
    description:
      'Timeout for enqueueing a record, and for reserving an idempotency key, in milliseconds.',
  }),
  ...TracingConfig.properties,
}
export const GatewayConfig = Type.Object(properties, { findProblems })
export type GatewayConfig = Static<typeof GatewayConfig>

/** The URL at which clients reach a gateway, without a slash at its end. */
export const publicUrlOf = ({ PUBLIC_URL, PORT }: Pick<GatewayConfig, 'PUBLIC_URL' | 'PORT'>) =>
  PUBLIC_URL ?? `http://127.0.0.1:${PORT}`

function findProblems(config: GatewayConfig): string[] {
  const problems = findObjectStoreProblems(config)
  /** One API key can use these shares of the bytes in flight: one for logs, one for forms. */
  const logs = logShare * accountShare
  const forms = (1 - logShare) * accountShare
  const needs = {
    'a log': (2 * limits.logBytes + limits.jsonNodeBytes * limits.jsonNodes) / logs,
    BATCH_BODY_BYTES_MAX:
      (config.BATCH_BODY_BYTES_MAX +
        2 * batchJsonBytesMax(config.BATCH_BODY_BYTES_MAX) +
        limits.jsonNodeBytes * limits.batchJsonNodes) /
      logs,
    ATTACHMENT_BYTES_MAX:
      (formBytesMax(config.ATTACHMENT_BYTES_MAX) + limits.jsonNodeBytes * limits.jsonNodes) / forms,
  }
  for (const [setting, bytes] of Object.entries(needs)) {
    if (bytes <= config.BYTES_IN_FLIGHT_MAX) continue
    problems.push(`BYTES_IN_FLIGHT_MAX must be at least ${Math.ceil(bytes)} for ${setting}`)
  }
  if (config.QUEUE_SHARDS > 1 && !/^rediss?\+cluster:/.test(config.REDIS_URL)) {
    problems.push('QUEUE_SHARDS may be above 1 only in a Redis Cluster: REDIS_URL=redis+cluster://')
  }
  return problems
}
