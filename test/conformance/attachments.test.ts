import { Client } from 'minio'
import t, { type Test } from 'tap'
import { startS3 } from '@intake/engines'
import { createObjectStore, type StoredObject } from '@intake/object-store'
import { buffer } from 'node:stream/consumers'
import type { GatewayPorts } from '../../gateway/src/ports.ts'
import { createMemoryAttachments } from '../../gateway/test/twins/attachments.ts'
import { createDataDir } from '@intake/test-kit/data-dir'

t.test('in memory', async (t) => {
  const objects = new Map<string, StoredObject>()
  await conforms(t, createMemoryAttachments(objects), async (key) => {
    const found = objects.get(key)
    return found && { body: found.body, contentType: found.contentType, sha256: found.sha256 }
  })
})

t.test('in S3', async (t) => {
  const server = await startS3({ dataDir: createDataDir(t), port: 0 })
  t.teardown(() => server.stop())
  const url = new URL(server.url)
  const client = new Client({
    endPoint: url.hostname,
    port: Number(url.port),
    useSSL: false,
    accessKey: url.username,
    secretKey: url.password,
  })
  const store = createObjectStore({
    endpoint: server.url,
    bucket: 'intake',
    region: 'us-east-1',
    timeoutMs: 60_000,
  })
  t.teardown(() => store.close())
  await store.ensureBucket()
  await conforms(t, store, async (key) => {
    const about = await client.statObject('intake', key).catch(() => undefined)
    if (about === undefined) return undefined
    const body = await buffer(await client.getObject('intake', key))
    const { 'content-type': contentType = '', sha256 = '' } = about.metaData as Record<
      string,
      string
    >
    return { body, contentType, sha256 }
  })
})

type Found = Pick<StoredObject, 'body' | 'contentType' | 'sha256'> | undefined

/** What every store of attachments does. */
async function conforms(
  t: Test,
  store: GatewayPorts['attachments'],
  find: (key: string) => Promise<Found>,
): Promise<void> {
  const object = (n: number): StoredObject => ({
    key: `feedback/2026/11/23/${n}/1-ab.png`,
    body: Buffer.from(`image ${n}`),
    contentType: 'image/png',
    sha256: `${n}`.repeat(64),
  })
  const { key, ...content } = object(1)

  await t.test('a stored attachment has its bytes, type and hash', async (t) => {
    await store.put(object(1))
    t.strictSame(await find(key), content)
  })

  await t.test('storing it again changes nothing', async (t) => {
    await store.put(object(1))
    t.strictSame(await find(key), content)
  })

  await t.test('removes the given attachments only, also when one is absent', async (t) => {
    await store.put(object(2))
    await store.put(object(3))
    await store.remove([object(2).key, 'feedback/absent.png'])
    t.equal(await find(object(2).key), undefined)
    t.not(await find(object(3).key), undefined)
    t.not(await find(key), undefined)
  })
}
