import { Type, type Static } from 'typebox'
import { ConfigError } from '@intake/runtime'
import { clickhouseCluster, clickhouseUrl } from './clickhouse.ts'
import { keepMetadata } from './keep-metadata.ts'
import { findObjectStoreProblems, ObjectStoreConfig, s3Endpoint } from './object-store.ts'
import { problemOf } from './problem-of.ts'
import { findRedisUrlProblems, redisUrl } from './redis-url.ts'
import { parseTrustProxy, trustProxy } from './trust-proxy.ts'

/** Settings of the console, by the name of their environment variable. */
export const ConsoleConfig = Type.Object({
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address of the page, health checks and metrics. `internal`: as in the gateway.',
  }),
  CONSOLE_ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3004,
    description: 'Port of the page, health checks and metrics; 0 picks a free one.',
  }),
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
    Type.String({
      writeOnly: true,
      pattern: '^https?://',
      description: 'URL that gets a request for each new feedback (docs/webhook.md).',
    }),
  ),
  FEEDBACK_WEBHOOK_SECRET: Type.Optional(
    Type.String({
      writeOnly: true,
      description:
        'Signs them: `whsec_` and 24 to 64 bytes in base64, or any other text of at least 16 characters.',
    }),
  ),
  FEEDBACK_WEBHOOK_FORM: Type.Union(
    [
      Type.Literal('standard'),
      Type.Literal('slack'),
      Type.Literal('teams'),
      Type.Literal('github'),
    ],
    {
      default: 'standard',
      description: '`standard` for programs; `slack`, `teams` or `github` for people.',
    },
  ),
  FEEDBACK_WEBHOOK_EMAIL: Type.Optional(
    Type.Union([Type.Literal('show'), Type.Literal('hide')], {
      description:
        'Whether the webhook sends the e-mail of the user: `show` or `hide`. Default: `show` in the form `standard`.',
    }),
  ),
  FEEDBACK_WEBHOOK_TOKEN: Type.Optional(
    Type.String({
      writeOnly: true,
      pattern: '^[!-~]+$',
      description:
        'Sent as `Authorization: Bearer`. Required for `github`: a token that may write issues.',
    }),
  ),
  PAGE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Address at which people open the page, for links in messages.',
    }),
  ),
})
export type ConsoleConfig = Static<typeof ConsoleConfig>

/** @throws {ConfigError} for settings that match the schema but are wrong or contradictory */
export function checkConsoleConfig(config: ConsoleConfig): void {
  const problems = [
    ...findRedisUrlProblems(config.REDIS_URL),
    ...findObjectStoreProblems(config),
    ...problemOf(() => parseTrustProxy(config.TRUST_PROXY)),
  ]
  const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
  const { PAGE_PASSWORD: password } = config
  if (password !== undefined && password.trim().length < passwordLengthMin) {
    problems.push(`PAGE_PASSWORD must have at least ${passwordLengthMin} characters`)
  }
  // Basic authentication allows no control characters (RFC 7617), so nobody could log in
  // with such a password.
  if (password !== undefined && /\p{Cc}/u.test(password)) {
    problems.push('PAGE_PASSWORD must have no control characters')
  }
  problems.push(...findWebhookProblems(url, secret))
  if (config.FEEDBACK_WEBHOOK_FORM === 'github' && config.FEEDBACK_WEBHOOK_TOKEN === undefined) {
    problems.push('FEEDBACK_WEBHOOK_FORM github needs FEEDBACK_WEBHOOK_TOKEN')
  }
  if (url === undefined && config.FEEDBACK_WEBHOOK_FORM !== 'standard') {
    problems.push(
      `FEEDBACK_WEBHOOK_FORM ${config.FEEDBACK_WEBHOOK_FORM} needs FEEDBACK_WEBHOOK_URL`,
    )
  }
  if (config.PAGE_URL !== undefined && !isRequestUrl(config.PAGE_URL)) {
    problems.push('PAGE_URL must be a URL of http or https without user and password')
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

/** Minimum length: a shorter password can be guessed in spite of the limit on wrong passwords. */
const passwordLengthMin = 12
const secretTextMin = 16
const secretBytesMin = 24
const secretBytesMax = 64

/**
 * Describes the problems of the webhook's settings, one sentence each, without values, because the
 * URL may contain a token.
 */
function findWebhookProblems(url: string | undefined, secret: string | undefined): string[] {
  const problems: string[] = []
  if (url !== undefined && secret === undefined) {
    problems.push('FEEDBACK_WEBHOOK_SECRET must be set')
  }
  if (url !== undefined && !isRequestUrl(url)) {
    problems.push('FEEDBACK_WEBHOOK_URL must be a URL of http or https without user and password')
  }
  if (secret !== undefined && !isSigningSecret(secret)) {
    problems.push(
      `FEEDBACK_WEBHOOK_SECRET must be whsec_ and ${secretBytesMin} to ${secretBytesMax} bytes in base64, or ` +
        `another text of at least ${secretTextMin} characters`,
    )
  }
  return problems
}

function isRequestUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password: secret } = new URL(url)
  // A URL with credentials is refused here, because `fetch` would refuse it with an error that
  // contains the credentials.
  return /^https?:$/.test(protocol) && username === '' && secret === ''
}

/**
 * Whether a text can be the secret: `whsec_` and base64, as the Standard Webhooks specification
 * defines it, or another text that is long enough. After `whsec_` only base64 is allowed, because
 * Node would skip other characters and sign with the rest.
 */
function isSigningSecret(secret: string): boolean {
  if (!secret.startsWith('whsec_')) return secret.trim().length >= secretTextMin
  const base64 = secret.slice('whsec_'.length)
  const bytes = Buffer.from(base64, 'base64')
  const isExact = bytes.toString('base64').replace(/=+$/, '') === base64.replace(/={0,2}$/, '')
  return isExact && bytes.length >= secretBytesMin && bytes.length <= secretBytesMax
}
