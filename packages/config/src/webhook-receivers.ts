import { bundlePattern } from '@intake/contract'
import { tryJson } from '@intake/runtime'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

export const webhookForm = Type.Union([
  Type.Literal('standard'),
  Type.Literal('slack'),
  Type.Literal('teams'),
  Type.Literal('github'),
])
export const webhookEmail = Type.Union([Type.Literal('show'), Type.Literal('hide')])
export const webhookToken = Type.String({ pattern: '^[!-~]+$' })

const choices = ({ anyOf }: { anyOf: readonly { const: string }[] }) =>
  anyOf.map((one) => one.const).join(', ')

/** What a field must be that is not valid. */
const expected: Record<string, string> = {
  bundle:
    'must be an application, or com.example.* for all that begin so; FEEDBACK_WEBHOOK_URL gets the rest',
  form: `must be ${choices(webhookForm)}`,
  email: `must be ${choices(webhookEmail)}`,
}

/** Who is told about the applications that `bundle` stands for. */
const Receiver = Type.Object(
  {
    bundle: Type.String({ pattern: bundlePattern.source }),
    form: Type.Optional(webhookForm),
    url: Type.String(),
    secret: Type.String(),
    token: Type.Optional(webhookToken),
    email: Type.Optional(webhookEmail),
  },
  { additionalProperties: false },
)
const Receivers = Type.Array(Receiver, { minItems: 1, maxItems: 50 })

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
  const rows = parseRows(config.FEEDBACK_WEBHOOKS)
  const receivers = Value.Check(Receivers, rows) ? rows : []
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

/**
 * Describes the problems of the settings, one sentence each, without values, because a URL may
 * contain a token.
 */
export function findReceiverProblems(config: ReceiverConfig): string[] {
  const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
  const { FEEDBACK_WEBHOOK_FORM: form } = config
  const problems = findListProblems(parseRows(config.FEEDBACK_WEBHOOKS))
  if (url !== undefined && secret === undefined) {
    problems.push('FEEDBACK_WEBHOOK_SECRET must be set')
  }
  if (url === undefined && form !== 'standard') {
    problems.push(`FEEDBACK_WEBHOOK_FORM ${form} needs FEEDBACK_WEBHOOK_URL`)
  }
  const setting = (name: string) => `FEEDBACK_WEBHOOK_${name.toUpperCase()}`
  const { FEEDBACK_WEBHOOK_TOKEN: token } = config
  return [...problems, ...findProblems({ url, secret, form, token }, setting)]
}

function findListProblems(rows: unknown): string[] {
  if (rows === undefined) return []
  const [error] = Value.Errors(Receivers, rows)
  if (error !== undefined) {
    const [, index, field] = error.instancePath.split('/')
    const reason =
      field === undefined
        ? error.message
        : `${field} ${field in Receiver.properties ? (expected[field] ?? 'is not valid') : 'is unknown'}`
    const place = index === undefined ? '' : `: entry ${Number(index) + 1}: ${reason}`
    return [`FEEDBACK_WEBHOOKS must be a JSON list of receivers (docs/webhook.md)${place}`]
  }
  return (rows as WebhookReceiver[]).flatMap((row, index) =>
    findProblems(row, (name) => `FEEDBACK_WEBHOOKS: ${name} of entry ${index + 1}`),
  )
}

/** Returns what the JSON contains; null if it is no JSON, undefined if it is not set. */
const parseRows = (json: string | undefined): unknown =>
  json === undefined ? undefined : (tryJson(json) ?? null)

const secretTextMin = 16
const secretBytesMin = 24
const secretBytesMax = 64

/** @param nameOf returns how a sentence calls one of the values */
function findProblems(
  receiver: { [Field in 'url' | 'secret' | 'form' | 'token']?: string | undefined },
  nameOf: (field: string) => string,
): string[] {
  const { url, secret, form, token } = receiver
  const problems: string[] = []
  if (url !== undefined && !isRequestUrl(url)) {
    problems.push(`${nameOf('url')} must be a URL of http or https without user and password`)
  }
  if (secret !== undefined && !isSigningSecret(secret)) {
    problems.push(
      `${nameOf('secret')} must be whsec_ and ${secretBytesMin} to ${secretBytesMax} bytes in base64, or ` +
        `another text of at least ${secretTextMin} characters`,
    )
  }
  if (form === 'github' && token === undefined) {
    problems.push(`${nameOf('form')} github needs ${nameOf('token')}`)
  }
  return problems
}

export function isRequestUrl(url: string): boolean {
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
