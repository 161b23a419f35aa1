import { Type, type Static } from 'typebox'

/** Settings of the worker, by the name of their environment variable. */
export const WorkerConfig = Type.Object({
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that health checks, metrics and the page are bound to.',
  }),
  WORKER_ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3002,
    description: 'Port of health checks, metrics and the page; 0 picks a free one.',
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
  PAGE_PASSWORD: Type.Optional(
    Type.String({
      description:
        'Password of the page at `/` of the admin port (docs/page.md). Without it only this machine gets the page.',
    }),
  ),
  PAGE_CLICKHOUSE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'ClickHouse as a user who may read the views, for the page and the webhook. Default: `CLICKHOUSE_URL`.',
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'http(s)://ACCESS_KEY:SECRET_KEY@host:port, to read attachments. Without it the page has no pictures.',
    }),
  ),
  S3_BUCKET: Type.String({ default: 'intake', description: 'Bucket of the attachments.' }),
  S3_REGION: Type.String({ default: 'us-east-1', description: 'Region of the bucket.' }),
  FEEDBACK_WEBHOOK_URL: Type.Optional(
    Type.String({
      // Without credentials: they would appear in the log.
      pattern: '^https?://[^@/?#]+([/?#].*)?$',
      description: 'Gets a signed request for each new feedback (docs/webhook.md).',
    }),
  ),
  FEEDBACK_WEBHOOK_SECRET: Type.Optional(
    Type.String({
      minLength: 16,
      description:
        'Signs these requests: `whsec_` and base64, or any text of at least 16 characters. Required with the URL.',
    }),
  ),
})
export type WorkerConfig = Static<typeof WorkerConfig>
