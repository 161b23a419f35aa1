import t from 'tap'
import { problemsOf, type Traits } from '@intake/runtime'
import { loadConfig } from '@intake/runtime/config'
import { GatewayConfig, objectStoreSettings, ConsoleConfig } from '../src/index.ts'

const common = { REDIS_URL: 'redis://x' }
const stored = { ...common, S3_ENDPOINT: 'https://key:secret@s3.example.com' }
const load = (env: Record<string, string>) => loadConfig(GatewayConfig, { ...stored, ...env })

/** Returns the problems that a gateway finds in these settings. */
const problemsIn = (env: Record<string, string>) => problemsOf(() => load(env))

t.test('an endpoint ends after its host and port', async (t) => {
  for (const end of ['', '/', ':9000', ':9000/']) {
    t.same(problemsIn({ S3_ENDPOINT: `https://key:secret@host${end}` }), [], end)
  }
  for (const end of ['/bucket', '/bucket/', '/?x=1', '/#x']) {
    const problems = problemsIn({ S3_ENDPOINT: `https://key:secret@host${end}` })
    t.match(problems, [/^S3_ENDPOINT must end after the host and port: S3_BUCKET names the bucket/])
    t.equal(problems.length, 1)
  }
})

t.test('all problems are reported at once, by gateway and console, without a value', async (t) => {
  const env = {
    S3_ENDPOINT: 'https://hidden-key@127.0.0.1/hidden-bucket',
    S3_ADDRESSING: 'virtual',
  }
  const message =
    /^(?=.*must end after)(?=.*a secret key, or neither)(?=.*not an IP address)(?!.*hidden)/
  t.match(problemsIn(env).join('; '), message)
  const worker = { ...common, CLICKHOUSE_URL: 'http://x', ...env }
  t.throws(() => loadConfig(ConsoleConfig, worker), {
    message: /must end after/,
  })
  const address = { S3_ENDPOINT: 'http://a:b@[::1]:9000' }
  t.equal(problemsIn({ ...address, S3_ADDRESSING: 'virtual' }).length, 1)
  t.same(problemsIn(address), [])
  t.same(problemsIn({ S3_ADDRESSING: 'virtual' }), [])
})

t.test('a prefix is a folder with names that every store accepts', async (t) => {
  for (const prefix of ['intake', 'team/intake', 'team/intake/', 'a.b/c-d_e']) {
    t.equal(load({ S3_PREFIX: prefix }).S3_PREFIX, prefix)
  }
  for (const prefix of ['/intake', 'a//b', 'a b', '../a', './a', 'a/..', 'ä', '/']) {
    t.throws(() => load({ S3_PREFIX: prefix }), { message: /S3_PREFIX/ }, prefix)
  }
})

t.test('the encryption may name the key of KMS', async (t) => {
  const of = (S3_SSE: string) => objectStoreSettings(load({ S3_SSE })).encryption
  t.same(of('AES256'), { algorithm: 'AES256' })
  t.same(of('aws:kms'), { algorithm: 'aws:kms', kmsKeyId: undefined })
  const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd'
  t.same(of(`aws:kms:${arn}`), { algorithm: 'aws:kms', kmsKeyId: arn })
  for (const wrong of ['aws', 'aws:kms:', 'AES256:key', 'aws:kms:a b']) {
    t.throws(() => load({ S3_SSE: wrong }), { message: /S3_SSE/ }, wrong)
  }
})

t.test('of the sources of credentials only the one that is used is checked', async (t) => {
  const half = { AWS_ACCESS_KEY_ID: 'key', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }
  t.same(problemsIn(half), [], 'the endpoint has keys')
  const S3_ENDPOINT = 'https://s3.example.com'
  t.match(problemsIn({ ...half, S3_ENDPOINT }), [/AWS_SECRET_ACCESS_KEY must be set together/])
  const { AWS_WEB_IDENTITY_TOKEN_FILE } = half
  t.match(problemsIn({ AWS_WEB_IDENTITY_TOKEN_FILE, S3_ENDPOINT }), [/needs AWS_ROLE_ARN/])
  t.same(problemsIn({ AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN: 'role', S3_ENDPOINT }), [])
  t.same(problemsIn({ ...half, AWS_SECRET_ACCESS_KEY: 'secret', S3_ENDPOINT }), [], 'keys first')
  t.same(problemsIn({ S3_ENDPOINT }), [], 'the metadata of the instance')
})

t.test('a list, and keys that cannot be decoded, are refused without a value', async (t) => {
  for (const url of [
    'http://k:hidden@h1:9000,h2:9000',
    'http://k:hidden@h1:9000,http://k:hidden@h2:9000',
    'http://k:50%hidden@h',
  ]) {
    t.match(problemsIn({ S3_ENDPOINT: url }), [/^S3_ENDPOINT must (?!.*hidden)/], url)
    const list = url.includes(',http') ? url.replace(',', ',hidden,') : url
    t.throws(
      () => loadConfig(ConsoleConfig, { ...common, CLICKHOUSE_URL: list }),
      { message: /CLICKHOUSE_URL must (?!.*hidden)/ },
      list,
    )
  }
  const CLICKHOUSE_URL = 'http://u:p@h1:8123,http://u:p@h2:8123'
  t.equal(loadConfig(ConsoleConfig, { ...common, CLICKHOUSE_URL }).CLICKHOUSE_URL, CLICKHOUSE_URL)
})

t.test('the endpoint and the URL of Redis are also checked when their files change', async (t) => {
  const { S3_ENDPOINT, REDIS_URL } = GatewayConfig.properties as Record<string, Traits>
  t.match(S3_ENDPOINT?.findProblems?.('http://key@host'), [/or neither/])
  t.match(REDIS_URL?.findProblems?.('redis+cluster://host/1'), [/one database/])
})
