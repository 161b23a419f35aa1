import { isIP } from 'node:net'
import { Type, type Static } from 'typebox'

const optional = (description: string) => Type.Optional(Type.String({ description }))
const secret = (description: string) => Type.Optional(Type.String({ writeOnly: true, description }))

/** Address of the object store, optionally with an access key. */
export const s3Endpoint = Type.String({
  hasCredentials: true,
  isFollowed: true,
  findProblems: findEndpointProblems,
  pattern: '^https?://',
  description:
    'http(s)://ACCESS_KEY:SECRET_KEY@host:port of the object store, or without keys ([credentials](#object-store)).',
})

/** The object store except its address, for gateway, console, `npm start` and the commands. */
export const ObjectStoreConfig = Type.Object({
  S3_BUCKET: Type.String({ default: 'intake', description: 'Bucket of the attachments.' }),
  S3_REGION: Type.String({ default: 'us-east-1', description: 'Region of the bucket.' }),
  S3_ADDRESSING: Type.Union([Type.Literal('path'), Type.Literal('virtual')], {
    default: 'path',
    description:
      'Where requests name the bucket: in the `path`, or `virtual`: in the host. `s3.amazonaws.com` always gets `virtual`.',
  }),
  S3_PREFIX: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*/?$',
      maxLength: 255,
      description:
        'Folder of the bucket for all objects, such as `team/intake`; rows have keys without it.',
    }),
  ),
  S3_SSE: Type.Optional(
    Type.String({
      pattern: '^(AES256|aws:kms(:\\S+)?)$',
      description:
        'Encryption asked for with each object: `AES256`, `aws:kms`, or `aws:kms:` and the id or ARN of a key. Default: that of the bucket.',
    }),
  ),
  AWS_ACCESS_KEY_ID: secret('Access key, if `S3_ENDPOINT` has none.'),
  AWS_SECRET_ACCESS_KEY: secret('Secret key of `AWS_ACCESS_KEY_ID`.'),
  AWS_SESSION_TOKEN: secret('Session token, if the access key is temporary.'),
  AWS_WEB_IDENTITY_TOKEN_FILE: secret(
    'File with a token that STS exchanges for temporary credentials of `AWS_ROLE_ARN` (IRSA).',
  ),
  AWS_ROLE_ARN: optional('Role whose credentials STS returns for `AWS_WEB_IDENTITY_TOKEN_FILE`.'),
  AWS_ENDPOINT_URL_STS: Type.Optional(
    Type.String({
      hasCredentials: true,
      pattern: '^https?://',
      description: 'URL of STS. Default: that of `S3_REGION` in AWS.',
    }),
  ),
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: optional('Path of the credentials of an ECS task.'),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: Type.Optional(
    Type.String({
      hasCredentials: true,
      pattern: '^https?://',
      description: 'URL of the credentials of a container (EKS).',
    }),
  ),
  AWS_CONTAINER_AUTHORIZATION_TOKEN: secret(
    'Token that is sent to the URL of the credentials as `Authorization`.',
  ),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: secret('File with that token, read for each request.'),
})
export type ObjectStoreConfig = Static<typeof ObjectStoreConfig>

type Config = ObjectStoreConfig & { S3_ENDPOINT?: string }

/** One sentence for each contradiction, without values. */
export function findObjectStoreProblems(config: Config): string[] {
  const { S3_ENDPOINT, S3_ADDRESSING } = config
  if (S3_ENDPOINT === undefined) return []
  const { hostname, username } = new URL(S3_ENDPOINT)
  const problems = username === '' ? findIdentityProblems(config) : []
  if (S3_ADDRESSING === 'virtual' && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    problems.push('S3_ADDRESSING=virtual needs a host name in S3_ENDPOINT, not an IP address')
  }
  return problems
}

function findEndpointProblems(endpoint: string): string[] {
  const { pathname, search, hash, username, password } = new URL(endpoint)
  const problems: string[] = []
  if (pathname !== '/' || search !== '' || hash !== '') {
    problems.push(
      'S3_ENDPOINT must end after the host and port: S3_BUCKET names the bucket, S3_PREFIX a folder in it',
    )
  }
  if ((username === '') !== (password === '')) {
    problems.push('S3_ENDPOINT must have an access key and a secret key, or neither')
  }
  return problems
}

/** Matters only if the endpoint has no credentials. An access key precedes a token file. */
function findIdentityProblems(config: Config): string[] {
  const {
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ROLE_ARN: role,
  } = config
  if ((accessKey === undefined) !== (secretKey === undefined)) {
    return ['AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together']
  }
  if (accessKey !== undefined) return []
  return tokenFile !== undefined && role === undefined
    ? ['AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN']
    : []
}

function parseEncryption(sse: string) {
  if (sse === 'AES256') return { algorithm: 'AES256' } as const
  const kmsKeyId = sse.slice('aws:kms:'.length) || undefined
  return { algorithm: 'aws:kms', kmsKeyId } as const
}

export function objectStoreSettings(config: ObjectStoreConfig & { S3_ENDPOINT: string }) {
  return {
    endpoint: config.S3_ENDPOINT,
    bucket: config.S3_BUCKET,
    region: config.S3_REGION,
    addressing: config.S3_ADDRESSING,
    prefix: config.S3_PREFIX,
    encryption: config.S3_SSE === undefined ? undefined : parseEncryption(config.S3_SSE),
    identity: config,
  }
}
