import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { loadRoleCredentials } from '../src/role-credentials.ts'
import { roleJson, startFake, stsXml } from './fake-aws.ts'

const region = { region: 'eu-west-1' }
const found = { accessKey: 'role-key', secretKey: 'role-secret', sessionToken: 'role-token' }

t.test('an instance has the credentials of its role, by a token for its metadata', async (t) => {
  const base = '/latest/meta-data/iam/security-credentials/'
  const { url, received } = await startFake(t, ({ method, path, headers }) => {
    if (method === 'PUT' && path === '/latest/api/token') return { body: 'metadata-token' }
    if (headers['x-aws-ec2-metadata-token'] !== 'metadata-token') return { status: 401 }
    if (path === base) return { body: 'intake-role\n' }
    return path === `${base}intake-role` ? { body: roleJson('role-key') } : { status: 404 }
  })
  const credentials = await loadRoleCredentials({}, { ...region, metadataUrl: url })
  t.match(credentials, found)
  t.ok(credentials.expiresAtMs > Date.now())
  t.equal(received.length, 3)
})

t.test('STS exchanges the token of a web identity, which is read each time', async (t) => {
  const tokenFile = join(createDataDir(t), 'token')
  const { url, received } = await startFake(t, () => ({ body: stsXml('role-key') }))
  const role = 'arn:aws:iam::1:role/intake'
  const identity = {
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ROLE_ARN: role,
    AWS_ENDPOINT_URL_STS: url,
  }
  for (const token of ['first.jwt', 'second.jwt']) {
    writeFileSync(tokenFile, `${token}\n`)
    t.match(await loadRoleCredentials(identity, region), found)
    const { method, body } = received.at(-1)!
    t.equal(method, 'POST')
    t.same(Object.fromEntries(new URLSearchParams(body)), {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: 'intake',
      WebIdentityToken: token,
    })
  }
})

t.test('a container gets them from its URL, with a token of a setting or a file', async (t) => {
  const file = join(createDataDir(t), 'token')
  writeFileSync(file, 'from-file\n')
  const { url, received } = await startFake(t, () => ({ body: roleJson('role-key') }))
  const identity = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials` }
  t.match(await loadRoleCredentials(identity, region), found)
  await loadRoleCredentials(
    { ...identity, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'from-environment' },
    region,
  )
  await loadRoleCredentials({ ...identity, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file }, region)
  t.same(
    received.map(({ path, headers }) => [path, headers.authorization]),
    [undefined, 'from-environment', 'from-file'].map((token) => ['/v1/credentials', token]),
  )
})

t.test('what is no credentials is an error with its source, and repeats nothing', async (t) => {
  const responses = [
    { body: 'secret text', reason: /^the container does not respond with JSON$/ },
    { body: '{"Code":"secret text"}', reason: /^the container responds without credentials$/ },
    { body: roleJson('role-key', 'never'), reason: /without credentials/ },
    {
      status: 403,
      body: '<Error><Code>AccessDenied</Code><Message>secret text</Message></Error>',
      reason: /^the container responds with 403 AccessDenied$/,
    },
  ]
  for (const { reason, ...response } of responses) {
    const { url } = await startFake(t, () => response)
    await t.rejects(loadRoleCredentials({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url }, region), {
      message: reason,
    })
  }
  const closed = loadRoleCredentials({}, { ...region, metadataUrl: 'http://127.0.0.1:1' })
  await t.rejects(closed, { message: /^no credentials from the instance metadata: / })
})

t.test('a source that never responds is given up', async (t) => {
  const { url } = await startFake(t, () => ({ silent: true }))
  await t.rejects(loadRoleCredentials({}, { ...region, metadataUrl: url }), {
    message: /^no credentials from the instance metadata within 3000 ms$/,
  })
})
