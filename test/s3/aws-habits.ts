import { readFileSync } from 'node:fs'
import { AssumeRoleProvider } from 'minio/dist/esm/AssumeRoleProvider.mjs'
import type { Test } from 'tap'
import { describeStoreError } from '@intake/object-store'
import { body, objectAt, openStore } from '@intake/test-kit/open-store'
import { resolveToLoopback } from '@intake/test-kit/resolve-to-loopback'
import { s3Client } from '@intake/test-kit/s3-client'
import { serve } from '@intake/test-kit/serve'
import { examineBucket } from '../../tools/cli/src/doctor/bucket.ts'
import type { ManagedService } from '../faults/kit/service.ts'
import { kmsKeyId, type ServerKind } from './servers.ts'
import { keysOf } from './store.ts'

const key = 'feedback/2026/11/24/an-id/1.png'
const prefix = 'team/intake'
const page = new URL('../../docs/deploy/object-store.md', import.meta.url)

/**
 * Tests features of AWS S3 that other servers may lack. Skips the features that this server lacks.
 */
export async function testAwsHabits(
  t: Test,
  server: ManagedService,
  { hasVirtualHosts, hasKeysAndRoles }: ServerKind,
): Promise<void> {
  await t.test('the bucket can be in the host name', { skip: !hasVirtualHosts }, async (t) => {
    resolveToLoopback(t)
    const endpoint = server.url().replace('127.0.0.1', 'localhost')
    const store = openStore(t, endpoint, { addressing: 'virtual', prefix })
    await store.checkBucket()
    await store.put(objectAt(key))
    t.same(await store.get(key), body)
    t.ok((await keysOf(store, '')).includes(key))
    await store.remove([key])
    t.equal(await store.get(key), undefined)
  })

  await t.test(
    'an object whose bytes do not have its hash is refused',
    { skip: !hasKeysAndRoles && 'this server does not compare them' },
    async (t) => {
      const store = openStore(t, server.url(), { timeoutMs: 2_000 })
      const changed = { ...objectAt('feedback/changed.png'), body: Buffer.from('other bytes') }
      await t.rejects(store.put(changed), { code: 'storage_unavailable' })
      t.equal(await store.get(changed.key), undefined)
    },
  )

  await t.test(
    'objects are encrypted as the settings say',
    { skip: !hasKeysAndRoles },
    async (t) => {
      const client = s3Client(server.url())
      const header = 'x-amz-server-side-encryption'
      for (const encryption of [
        { algorithm: 'AES256' as const },
        { algorithm: 'aws:kms' as const, kmsKeyId },
      ]) {
        const store = openStore(t, server.url(), { encryption })
        await store.put(objectAt(key))
        t.same(await store.get(key), body)
        const { metaData } = await client.statObject('intake', key)
        t.equal((metaData as Record<string, string>)[header], encryption.algorithm)
      }
    },
  )

  await t.test(
    'temporary credentials work with their token only',
    { skip: !hasKeysAndRoles },
    async (t) => {
      const identity = await assumeRole(server)
      const { host } = new URL(server.url())
      const endpoint = `http://${host}`
      const store = openStore(t, endpoint, { identity })
      await store.put(objectAt(key))
      t.same(await store.get(key), body)
      const withoutToken = { ...identity, AWS_SESSION_TOKEN: undefined }
      const stranger = openStore(t, endpoint, { identity: withoutToken })
      const error: unknown = await stranger.put(objectAt(key)).catch((cause: unknown) => cause)
      t.equal(describeStoreError(error), 'the store does not accept the session token')

      const { url, requests } = await serveCredentials(t, identity)
      const role = openStore(t, endpoint, { identity: { AWS_CONTAINER_CREDENTIALS_FULL_URI: url } })
      await role.put(objectAt(key))
      t.same(await role.get(key), body)
      t.equal(requests(), 1)
    },
  )

  await t.test(
    'the policy of the documentation allows what is needed, and no more',
    { skip: !hasKeysAndRoles },
    async (t) => {
      const [, policy = ''] = /```json\n([^]*?)```/.exec(readFileSync(page, 'utf8')) ?? []
      const own = policy.replaceAll('YOUR-BUCKET', 'intake').replaceAll('YOUR-PREFIX', prefix)
      const { host } = new URL(server.url())
      const endpoint = `http://${host}`
      const identity = await assumeRole(server, own)
      const place = { bucket: 'intake', region: 'us-east-1', prefix }
      t.same(await examineBucket({ endpoint, identity, ...place }), [])
      const store = openStore(t, endpoint, { identity, prefix })
      await store.checkBucket()
      await store.ensureBucket()
      const denied = 'the access key is wrong or lacks the right'
      for (const outside of [undefined, 'team/other']) {
        const other = openStore(t, endpoint, { identity, prefix: outside })
        const works = [
          other.put(objectAt(key)),
          keysOf(other, ''),
          other.get(key),
          other.remove([key]),
        ]
        for (const result of await Promise.allSettled(works)) {
          t.match(result, { status: 'rejected' })
          if (result.status === 'rejected') t.equal(describeStoreError(result.reason), denied)
        }
      }
    },
  )
}

/** Gets temporary credentials from the server's STS. A policy may limit them. */
async function assumeRole(server: ManagedService, policy?: string) {
  const { host, username, password } = new URL(server.url())
  const provider = new AssumeRoleProvider({
    stsEndpoint: `http://${host}`,
    accessKey: username,
    secretKey: password,
    region: 'us-east-1',
    ...(policy !== undefined && { policy }),
  })
  const credentials = await provider.getCredentials()
  return {
    AWS_ACCESS_KEY_ID: credentials.getAccessKey(),
    AWS_SECRET_ACCESS_KEY: credentials.getSecretKey(),
    AWS_SESSION_TOKEN: credentials.getSessionToken(),
  }
}

/**
 * Starts a server that returns these credentials, as the credentials endpoint of a container does.
 * Returns the URL of the server and a function that counts the requests.
 */
async function serveCredentials(t: Test, identity: Awaited<ReturnType<typeof assumeRole>>) {
  let count = 0
  const { url } = await serve(t, (_, response) => {
    count++
    response.end(
      JSON.stringify({
        AccessKeyId: identity.AWS_ACCESS_KEY_ID,
        SecretAccessKey: identity.AWS_SECRET_ACCESS_KEY,
        Token: identity.AWS_SESSION_TOKEN,
        Expiration: new Date(Date.now() + 900_000).toISOString(),
      }),
    )
  })
  return { url: `${url}/credentials`, requests: () => count }
}
