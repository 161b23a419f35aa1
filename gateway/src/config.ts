import { Type, type Static } from 'typebox'
import { limits } from '@intake/contract'
import { ConfigError } from '@intake/runtime'
import { formBytesMax } from './feedback-form.ts'
import { nodeBytes } from './json-nodes.ts'
import { accountShare } from './shares.ts'

const port = (preset: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: preset, description })

const share = (preset: number, of: string) =>
  Type.Number({
    minimum: 0,
    maximum: 0.25,
    default: preset,
    description:
      `Share of the memory of Redis for the idempotency keys of ${of}; one API key gets at most half ` +
      'of it. Used up, new keys are refused with `keys_full`.',
  })

const mebibyte = 1024 * 1024

/** Settings of the gateway, by the name of their environment variable. */
export const GatewayConfig = Type.Object({
  HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that the public interface is bound to.',
  }),
  PORT: port(3000, 'Port of the public interface; 0 picks a free one.'),
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that health checks and metrics are bound to.',
  }),
  GATEWAY_ADMIN_PORT: port(3001, 'Port of health checks and metrics; 0 picks a free one.'),
  REDIS_URL: Type.String({
    pattern: '^rediss?://',
    description: 'redis:// or rediss:// URL with credentials.',
  }),
  REDIS_DURABILITY: Type.Union([Type.Literal('strict'), Type.Literal('relaxed')], {
    default: 'strict',
    description:
      '`strict`: take no records while Redis is configured so that it could lose them; ' +
      '`relaxed`: take them and warn.',
  }),
  RESERVATIONS_LOGS_SHARE: share(0.15, 'logs, each kept for 72 hours'),
  RESERVATIONS_FEEDBACK_SHARE: share(0.1, 'feedback, each kept for 30 days'),
  S3_ENDPOINT: Type.String({
    pattern: '^https?://',
    description: 'http(s)://ACCESS_KEY:SECRET_KEY@host:port',
  }),
  S3_BUCKET: Type.String({ default: 'intake', description: 'Bucket of the attachments.' }),
  S3_REGION: Type.String({ default: 'us-east-1', description: 'Region of the bucket.' }),
  RATE_LIMIT_MAX: Type.Integer({
    minimum: 1,
    default: 600_000,
    description: 'Requests that one API key may send to one gateway in a window.',
  }),
  RATE_LIMIT_WINDOW_MS: Type.Integer({
    minimum: 1_000,
    default: 60_000,
    description: 'Length of the window in milliseconds.',
  }),
  LOG_BODY_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: mebibyte,
    description: 'Size of a body of `POST /api/log`, compressed and after decompression.',
  }),
  BATCH_BODY_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 4 * mebibyte,
    description: 'Size of a body of `POST /api/log/batch`, as it arrives.',
  }),
  BATCH_JSON_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 16 * mebibyte,
    description: 'The same, after decompression.',
  }),
  ATTACHMENT_BYTES_MAX: Type.Integer({
    minimum: 1,
    default: 10 * mebibyte,
    description: 'Size of one attachment.',
  }),
  BYTES_IN_FLIGHT_MAX: Type.Integer({
    minimum: 1,
    default: 256 * mebibyte,
    description:
      'Bytes of requests that are held in memory at once, three tenths for logs and the rest for ' +
      'feedback; beyond it 503 `busy`. One API key gets at most two thirds of either, into which the ' +
      'largest batch and the largest form must fit.',
  }),
  BODY_BYTES_PER_SECOND_MIN: Type.Integer({
    minimum: 1,
    default: 4_096,
    description:
      'Slowest rate at which a body may arrive; a sender that falls behind it by ten seconds gets 408.',
  }),
  HEADERS_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    maximum: 300_000,
    default: 10_000,
    description: 'Time in which the header of a request must arrive; then 408.',
  }),
  RESPONSE_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    default: 30_000,
    description:
      'Time from the last byte of a request to its response; then 503 `outcome_unknown`, and the ' +
      'connection ends.',
  }),
  CONNECTIONS_MAX: Type.Integer({
    minimum: 2,
    default: 2_000,
    description:
      'Open connections, and requests in flight. Idle connections make room for new ones, those ' +
      'without an API key first.',
  }),
  CLOCK_SKEW_MAX_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description:
      'How far the clock of the gateway may be from that of Redis, in milliseconds; beyond it the ' +
      'gateway is not ready and answers 503 `clock_skew`.',
  }),
  ENQUEUE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 4_000,
    description:
      'Time from an accepted record to its place in the queue, in milliseconds; also the time to reserve ' +
      'an idempotency key.',
  }),
  STORAGE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 10_000,
    description: 'Time to store one attachment, repeats included, in milliseconds.',
  }),
})
export type GatewayConfig = Static<typeof GatewayConfig>

/** Of the bytes in flight; the rest is for forms with images, so that neither starves the other. */
export const logShare = 0.3

/** @throws {ConfigError} for settings that are right one by one and contradict each other */
export function checkConfig(config: GatewayConfig): void {
  const problems: string[] = []
  /** What one API key may have of them. */
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
  // A feedback stores its images and is enqueued. Before that it reserves its key; or, without a key, its
  // images are removed after a failure.
  const processingMs = storageMs + enqueueMs + Math.max(storageMs, enqueueMs)
  if (config.RESPONSE_TIMEOUT_MS < processingMs) {
    problems.push(
      `RESPONSE_TIMEOUT_MS must be at least ${processingMs}: STORAGE_TIMEOUT_MS, ENQUEUE_TIMEOUT_MS, and ` +
        'the longer of the two again',
    )
  }
  if (problems.length > 0) throw new ConfigError(`configuration: ${problems.join('; ')}`)
}
