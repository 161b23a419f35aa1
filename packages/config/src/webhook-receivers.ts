import { bundlePattern } from '@intake/contract'
import { tryJson } from '@intake/runtime'
import { Type, type Static, type TStringOptions } from 'typebox'
import { Value } from 'typebox/value'

const secretTextMin = 16
const secretBytesMin = 24
const secretBytesMax = 64

export const requestUrl = (options: TStringOptions = {}) =>
  Type.Refine(
    Type.String(options),
    isRequestUrl,
    () => 'must be a URL of http or https without user and password',
  )
export const webhookSecret = (options: TStringOptions = {}) =>
  Type.Refine(
    Type.String(options),
    isSigningSecret,
    () =>
      `must be whsec_ and ${secretBytesMin} to ${secretBytesMax} bytes in base64, or ` +
      `another text of at least ${secretTextMin} characters`,
  )
export const webhookForm = Type.Union([
  Type.Literal('standard'),
  Type.Literal('slack'),
  Type.Literal('teams'),
  Type.Literal('github'),
])
export const webhookEmail = Type.Union([Type.Literal('show'), Type.Literal('hide')])
export const webhookToken = Type.String({ pattern: '^[!-~]+$' })

/** Who is told about the applications that `bundle` stands for. */
const Receiver = Type.Refine(
  Type.Object(
    {
      bundle: Type.String({ pattern: bundlePattern.source }),
      form: Type.Optional(webhookForm),
      url: requestUrl(),
      secret: webhookSecret(),
      token: Type.Optional(webhookToken),
      email: Type.Optional(webhookEmail),
    },
    { additionalProperties: false },
  ),
  ({ form, token }) => form !== 'github' || token !== undefined,
  () => 'form github needs token',
)
const Receivers = Type.Array(Receiver, { minItems: 1, maxItems: 50 })

/** What a field must be, where the words of the schema would not help. */
const expected: Record<string, string> = {
  bundle:
    'must be an application, or com.example.* for all that begin so; FEEDBACK_WEBHOOK_URL gets the rest',
  form: 'must be standard, slack, teams or github',
  email: 'must be show or hide',
}

/** A receiver without `bundle` is told about all applications. */
export type WebhookReceiver = Omit<Static<typeof Receiver>, 'bundle'> & { bundle?: string }

/** The settings that name receivers. */
interface ReceiverConfig {
  FEEDBACK_WEBHOOKS?: string
  FEEDBACK_WEBHOOK_URL?: string
  FEEDBACK_WEBHOOK_SECRET?: string
  FEEDBACK_WEBHOOK_FORM: Static<typeof webhookForm>
  FEEDBACK_WEBHOOK_EMAIL?: Static<typeof webhookEmail>
  FEEDBACK_WEBHOOK_TOKEN?: string
}

/**
 * Returns the receivers, of which the first that stands for an application is told about it: those
 * of `FEEDBACK_WEBHOOKS`, then that of `FEEDBACK_WEBHOOK_URL` for all applications.
 */
export function webhookReceivers(config: ReceiverConfig): WebhookReceiver[] {
  const receivers = tryJson(config.FEEDBACK_WEBHOOKS ?? '[]') as WebhookReceiver[]
  const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
  if (url === undefined || secret === undefined) return receivers
  const { FEEDBACK_WEBHOOK_TOKEN: token, FEEDBACK_WEBHOOK_EMAIL: email } = config
  const forAll = {
    url,
    secret,
    form: config.FEEDBACK_WEBHOOK_FORM,
    ...(token !== undefined && { token }),
    ...(email !== undefined && { email }),
  }
  return [...receivers, forAll]
}

/** Describes what is wrong with the list, or missing, one sentence each, without values. */
export function findReceiverProblems(config: ReceiverConfig): string[] {
  const { FEEDBACK_WEBHOOKS: list, FEEDBACK_WEBHOOK_URL: url } = config
  const { FEEDBACK_WEBHOOK_FORM: form } = config
  const problems = list === undefined ? [] : findListProblems(list)
  if (url !== undefined && config.FEEDBACK_WEBHOOK_SECRET === undefined) {
    problems.push('FEEDBACK_WEBHOOK_SECRET must be set')
  }
  if (url === undefined && form !== 'standard') {
    problems.push(`FEEDBACK_WEBHOOK_FORM ${form} needs FEEDBACK_WEBHOOK_URL`)
  }
  if (form === 'github' && config.FEEDBACK_WEBHOOK_TOKEN === undefined) {
    problems.push('FEEDBACK_WEBHOOK_FORM github needs FEEDBACK_WEBHOOK_TOKEN')
  }
  return problems
}

/** Errors that come with another one for the same field. */
const repeating = new Set(['const', 'additionalProperties'])

const findListProblems = (json: string): string[] =>
  Value.Errors(Receivers, tryJson(json))
    .filter(({ keyword }) => !repeating.has(keyword))
    .map(({ instancePath, keyword, message }) => {
      const [, index, field = ''] = instancePath.split('/')
      if (index === undefined)
        return 'FEEDBACK_WEBHOOKS must be a JSON list of receivers (docs/webhook.md)'
      const reason = keyword === 'boolean' ? 'is unknown' : (expected[field] ?? message)
      return `FEEDBACK_WEBHOOKS: entry ${Number(index) + 1}${field && `: ${field}`} ${reason}`
    })

function isRequestUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  // A URL with credentials is refused here, because `fetch` would refuse it with an error that
  // contains the credentials.
  return /^https?:$/.test(protocol) && username === '' && password === ''
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
