import { readFile } from 'node:fs/promises'
import type { TemporaryCredentials } from './renewed-credentials.ts'
import type { IdentitySettings } from './settings.ts'

const requestTimeoutMs = 3_000
const ecsHost = 'http://169.254.170.2'
const instanceMetadata = 'http://169.254.169.254'

/**
 * Loads temporary credentials of a role in AWS. They come from STS (for the token of a web
 * identity), from a container's endpoint, or from the metadata of the instance (IMDSv2). If they
 * cannot be loaded within a few seconds, rejects with a reason that contains no secret.
 */
export function loadRoleCredentials(
  identity: IdentitySettings,
  { region, metadataUrl }: { region: string; metadataUrl?: string },
): Promise<TemporaryCredentials> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path } = identity
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: url } = identity
  if (identity.AWS_WEB_IDENTITY_TOKEN_FILE) return fromWebIdentity(identity, region)
  if (path) return fromContainer(identity, new URL(path, ecsHost).href)
  return url ? fromContainer(identity, url) : fromInstance(metadataUrl)
}

async function fromWebIdentity(
  identity: IdentitySettings,
  region: string,
): Promise<TemporaryCredentials> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile = '', AWS_ROLE_ARN: role = '' } = identity
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'intake',
    // Each load reads the file again, because the token in the file is replaced before it expires.
    WebIdentityToken: (await readFile(tokenFile, 'utf8')).trim(),
  })
  const url = identity.AWS_ENDPOINT_URL_STS ?? `https://sts.${region}.${domain}`
  const text = await request('STS', url, { method: 'POST', body })
  const field = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1]
  return check('STS', {
    accessKey: field('AccessKeyId'),
    secretKey: field('SecretAccessKey'),
    sessionToken: field('SessionToken'),
    expiration: field('Expiration'),
  })
}

async function fromContainer(
  identity: IdentitySettings,
  url: string,
): Promise<TemporaryCredentials> {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = identity
  const token =
    file === undefined
      ? identity.AWS_CONTAINER_AUTHORIZATION_TOKEN
      : (await readFile(file, 'utf8')).trim()
  const headers = token === undefined ? {} : { authorization: token }
  return parse('the container', await request('the container', url, { headers }))
}

async function fromInstance(base = instanceMetadata): Promise<TemporaryCredentials> {
  const from = 'the instance metadata'
  const token = await request(from, new URL('/latest/api/token', base).href, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  })
  const headers = { 'x-aws-ec2-metadata-token': token }
  const roles = new URL('/latest/meta-data/iam/security-credentials/', base).href
  const [role = ''] = (await request(from, roles, { headers })).split('\n')
  return parse(from, await request(from, `${roles}${role.trim()}`, { headers }))
}

async function request(from: string, url: string, init: RequestInit): Promise<string> {
  const signal = AbortSignal.timeout(requestTimeoutMs)
  try {
    const response = await fetch(url, { ...init, signal, redirect: 'error' })
    const text = await response.text()
    if (response.ok) return text
    // Uses only the code of an AWS error, because the message could repeat the token that was sent.
    const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(text) ?? []
    throw new Error(`${from} responds with ${response.status} ${code}`.trim())
  } catch (error) {
    if (signal.aborted) {
      throw new Error(`no credentials from ${from} within ${requestTimeoutMs} ms`, { cause: error })
    }
    const { cause } = error as Error
    if (!(cause instanceof Error)) throw error
    const reason = (cause as NodeJS.ErrnoException).code ?? cause.message
    throw new Error(`no credentials from ${from}: ${reason}`, { cause: error })
  }
}

function parse(from: string, text: string): TemporaryCredentials {
  let found: Record<string, unknown>
  try {
    found = JSON.parse(text) as Record<string, unknown>
  } catch {
    throw new Error(`${from} does not respond with JSON`)
  }
  return check(from, {
    accessKey: found['AccessKeyId'],
    secretKey: found['SecretAccessKey'],
    sessionToken: found['Token'],
    expiration: found['Expiration'],
  })
}

function check(from: string, found: Record<string, unknown>): TemporaryCredentials {
  const { accessKey, secretKey, sessionToken, expiration } = found
  const expiresAtMs = Date.parse(String(expiration))
  if (!isText(accessKey) || !isText(secretKey) || !isText(sessionToken) || isNaN(expiresAtMs)) {
    throw new Error(`${from} responds without credentials`)
  }
  return { accessKey, secretKey, sessionToken, expiresAtMs }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
