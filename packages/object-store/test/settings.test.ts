import { execFileSync, spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { openStore } from '@intake/test-kit/open-store'
import { resolveToLoopback } from '@intake/test-kit/resolve-to-loopback'
import { describeStoreError } from '../src/index.ts'
import type { ObjectStoreSettings } from '../src/settings.ts'
import { roleJson, startFake } from './fake-aws.ts'

const object = {
  key: 'feedback/2026/11/21/an-id/1.png',
  body: Buffer.from('image'),
  contentType: 'image/png',
  sha256: 'ab'.repeat(32),
}
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const withoutOpenssl = hasOpenssl
  ? false
  : 'openssl, which makes the certificate, is not on the PATH'
/** Creates a key and its certificate, in PEM. */
const selfSigned = () => {
  const args = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=s3 -keyout - -out -'
  const pem = execFileSync('openssl', args.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] })
  return { key: pem, cert: pem }
}
const place = { bucket: 'bucket', region: 'eu-west-1' }

/** Connects a store to a server that accepts every request. */
async function connect(
  t: Test,
  settings: Partial<ObjectStoreSettings>,
  host = 'key:secret@127.0.0.1',
) {
  const fake = await startFake(t, () => ({}))
  const store = openStore(t, `http://${host}:${fake.port}`, { ...place, ...settings })
  return { store, received: fake.received }
}

t.test('by default the bucket is in the path, and nothing else is asked for', async (t) => {
  const { store, received } = await connect(t, {})
  await store.put(object)
  const { path, headers } = received[0]!
  t.equal(path, `/bucket/${object.key}`)
  t.match(headers.authorization, /Credential=key\/\d{8}\/eu-west-1\/s3\//)
  const found = Object.keys(headers).filter((name) => /encryption|security-token/.test(name))
  t.same(found, [])
})

t.test('the store can compare the bytes with their hash', async (t) => {
  await t.test('without TLS, because the signature contains it', async (t) => {
    const { store, received } = await connect(t, {})
    await store.put(object)
    const { headers } = received[0]!
    t.equal(headers['x-amz-content-sha256'], object.sha256)
    t.match(headers.authorization, /SignedHeaders=[^,]*x-amz-content-sha256/)
  })

  await t.test('with TLS, because it is the checksum', { skip: withoutOpenssl }, async (t) => {
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    t.teardown(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    })
    const fake = await startFake(t, () => ({}), selfSigned())
    const store = openStore(t, `https://key:secret@127.0.0.1:${fake.port}`, place)
    await store.put(object)
    const { headers } = fake.received[0]!
    t.equal(headers['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD')
    t.equal(headers['x-amz-checksum-sha256'], Buffer.from(object.sha256, 'hex').toString('base64'))
  })
})

t.test('objects are below the prefix, with or without a slash at its end', async (t) => {
  for (const prefix of ['team/intake', 'team/intake/']) {
    const { store, received } = await connect(t, { prefix })
    await store.put(object)
    await store.get(object.key)
    await store.remove([object.key])
    for (const { path } of received) t.equal(path, `/bucket/team/intake/${object.key}`)
    t.equal(received.length, 3)
  }
})

t.test('encryption is asked for with each object', async (t) => {
  const kms = await connect(t, { encryption: { algorithm: 'aws:kms', kmsKeyId: 'key-id' } })
  await kms.store.put(object)
  t.match(kms.received[0]?.headers, {
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'key-id',
  })
  const s3 = await connect(t, { encryption: { algorithm: 'AES256' } })
  await s3.store.put(object)
  t.match(s3.received[0]?.headers, { 'x-amz-server-side-encryption': 'AES256' })
})

t.test('with virtual addressing the bucket is in the host', async (t) => {
  const { store, received } = await connect(t, { addressing: 'virtual' }, 'key:secret@localhost')
  resolveToLoopback(t)
  await store.put(object)
  t.equal(received[0]?.path, `/${object.key}`)
  t.match(received[0]?.headers.host, /^bucket\.localhost:\d+$/)
})

t.test('without a key in the endpoint requests have that of the identity', async (t) => {
  const identity = {
    AWS_ACCESS_KEY_ID: 'other',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
  }
  const { store, received } = await connect(t, { identity }, '127.0.0.1')
  await store.put(object)
  t.match(received[0]?.headers, {
    authorization: /Credential=other\//,
    'x-amz-security-token': 'session',
  })
  const first = await connect(t, { identity })
  await first.store.put(object)
  t.match(first.received[0]?.headers, { authorization: /Credential=key\// })
  t.notOk(
    first.received[0]?.headers['x-amz-security-token'],
    'the key of the endpoint has no token',
  )
})

t.test('or that of a role', async (t) => {
  const { url: AWS_CONTAINER_CREDENTIALS_FULL_URI, received: asked } = await startFake(t, () => ({
    body: roleJson('role'),
  }))
  const { store, received } = await connect(
    t,
    { identity: { AWS_CONTAINER_CREDENTIALS_FULL_URI } },
    '127.0.0.1',
  )
  await Promise.all([store.put(object), store.put(object)])
  for (const { headers } of received) {
    t.match(headers, {
      authorization: /Credential=role\//,
      'x-amz-security-token': 'role-token',
    })
  }
  t.equal(asked.length, 1)
})

t.test('a role that cannot be had is storage_unavailable, with the reason', async (t) => {
  const { url: AWS_CONTAINER_CREDENTIALS_FULL_URI } = await startFake(t, () => ({ status: 500 }))
  const { store } = await connect(
    t,
    {
      identity: { AWS_CONTAINER_CREDENTIALS_FULL_URI },
      timeoutMs: 1_000,
    } as Partial<ObjectStoreSettings>,
    '127.0.0.1',
  )
  const error: unknown = await store.put(object).catch((reason: unknown) => reason)
  t.match(error, { code: 'storage_unavailable' })
  t.equal(describeStoreError(error), 'the container responds with 500')
})

t.test('with a prefix the bucket is checked by a list below it, without one by HEAD', async (t) => {
  const body = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'
  const { url, received } = await startFake(t, () => ({ body }))
  const endpoint = url.replace('//', '//key:secret@')
  for (const prefix of ['team/intake', undefined]) {
    await openStore(t, endpoint, { ...place, prefix }).checkBucket()
  }
  t.same(
    received.map(({ method, path = '' }) => [
      method,
      new URL(path, url).searchParams.get('prefix'),
    ]),
    [
      ['GET', 'team/intake/'],
      ['HEAD', null],
    ],
  )
})

t.test('a store that hides the bucket from an unknown key says why', async (t) => {
  const { url } = await startFake(t, ({ method }) =>
    method === 'HEAD'
      ? { status: 404 }
      : { status: 404, body: '<Error><Code>XAdminUserNotFound</Code></Error>' },
  )
  const store = openStore(t, url.replace('//', '//key:secret@'), place)
  const error: unknown = await store.checkBucket().catch((reason: unknown) => reason)
  t.equal(describeStoreError(error), 'the store does not know the access key')
})
