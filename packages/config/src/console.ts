import { Type, type Static } from 'typebox'
import { findObjectStoreProblems, ObjectStoreConfig, s3Endpoint } from './object-store.ts'
import {
  adminHost,
  clickhouseCluster,
  clickhouseUrl,
  keepMetadata,
  port,
  redisUrl,
} from './settings.ts'
import {
  findReceiverProblems,
  requestUrl,
  webhookEmail,
  webhookForm,
  webhookSecret,
  webhookToken,
} from './webhook-receivers.ts'
import { trustProxy } from './trust-proxy.ts'

const properties = {
  ADMIN_HOST: adminHost(
    'Address of the page, health checks and metrics. `internal`: as in the gateway.',
  ),
  CONSOLE_ADMIN_PORT: port(
    3004,
    'Port of the page, health checks and metrics; 0 picks a free one.',
  ),
  REDIS_URL: redisUrl,
  CLICKHOUSE_URL: Type.String({
    ...clickhouseUrl,
    description: 'ClickHouse as a user who may insert counts and facts about pictures.',
  }),
  CLICKHOUSE_CLUSTER: Type.Optional(clickhouseCluster),
  PAGE_PASSWORD: Type.Optional(
    Type.String({
      writeOnly: true,
      description:
        'Password of the page (docs/page.md), at least 12 characters. Without it only this machine is served.',
    }),
  ),
  TRUST_PROXY: Type.Optional(trustProxy('The page counts wrong passwords by address.')),
  PAGE_CLICKHOUSE_URL: Type.Optional(
    Type.String({
      ...clickhouseUrl,
      description: 'ClickHouse as a user who may read the views. Default: `CLICKHOUSE_URL`.',
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    Type.String({
      ...s3Endpoint,
      description: 'As in the gateway; without it the page has no pictures.',
    }),
  ),
  ...ObjectStoreConfig.properties,
  KEEP_METADATA: keepMetadata,
  FEEDBACK_WEBHOOK_URL: Type.Optional(
    requestUrl({
      writeOnly: true,
      description: 'URL that gets a request for each new feedback (docs/webhook.md).',
    }),
  ),
  FEEDBACK_WEBHOOK_SECRET: Type.Optional(
    webhookSecret({
      writeOnly: true,
      description:
        'Signs them: `whsec_` and 24 to 64 bytes in base64, or any other text of at least 16 characters.',
    }),
  ),
  FEEDBACK_WEBHOOK_FORM: Type.Union(webhookForm.anyOf, {
    default: 'standard',
    description: '`standard` for programs; `slack`, `teams` or `github` for people.',
  }),
  FEEDBACK_WEBHOOK_EMAIL: Type.Optional(
    Type.Union(webhookEmail.anyOf, {
      description:
        'Whether the webhook sends the e-mail of the user: `show` or `hide`. Default: `show` in the form `standard`.',
    }),
  ),
  FEEDBACK_WEBHOOK_TOKEN: Type.Optional(
    Type.String({
      ...webhookToken,
      writeOnly: true,
      description:
        'Sent as `Authorization: Bearer`. Required for `github`: a token that may write issues.',
    }),
  ),
  FEEDBACK_WEBHOOKS: Type.Optional(
    Type.String({
      writeOnly: true,
      description:
        'Receivers of some applications as a JSON list, before that of `FEEDBACK_WEBHOOK_URL` (docs/webhook.md). Give it as ' +
        '`FEEDBACK_WEBHOOKS_FILE`.',
    }),
  ),
  PAGE_URL: Type.Optional(
    requestUrl({
      description: 'Address at which people open the page, for links in messages.',
    }),
  ),
}
export const ConsoleConfig = Type.Object(properties, { findProblems })
export type ConsoleConfig = Static<typeof ConsoleConfig>

function findProblems(config: ConsoleConfig): string[] {
  const problems = findObjectStoreProblems(config)
  const { PAGE_PASSWORD: password } = config
  if (password !== undefined && password.trim().length < passwordLengthMin) {
    problems.push(`PAGE_PASSWORD must have at least ${passwordLengthMin} characters`)
  }
  // Basic authentication allows no control characters (RFC 7617): nobody could log in.
  if (password !== undefined && /\p{Cc}/u.test(password)) {
    problems.push('PAGE_PASSWORD must have no control characters')
  }
  return [...problems, ...findReceiverProblems(config)]
}

/** Minimum length: a shorter password can be guessed in spite of the limit on wrong passwords. */
const passwordLengthMin = 12
