import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { StoredObject } from '@intake/object-store'
import { s3Client } from '@intake/test-kit/s3-client'
import type { GatewayPorts } from '../../gateway/src/ports.ts'

type Found = Pick<StoredObject, 'body' | 'contentType' | 'sha256'> | undefined

/**
 * Creates a function that reads an object below a folder of the bucket `intake`, without the store
 * under test.
 */
export function createFinder(endpoint: string, folder = ''): (key: string) => Promise<Found> {
  const client = s3Client(endpoint)
  return async (key) => {
    const about = await client.statObject('intake', folder + key).catch(() => undefined)
    if (about === undefined) return undefined
    const body = await buffer(await client.getObject('intake', folder + key))
    const metaData = about.metaData as Record<string, string>
    const { 'content-type': contentType = '', sha256 = '' } = metaData
    return { body, contentType, sha256 }
  }
}

/** Tests what every store of attachments must do. */
export async function conforms(
  t: Test,
  store: GatewayPorts['attachments'],
  find: (key: string) => Promise<Found>,
): Promise<void> {
  const object = (n: number): StoredObject => {
    const body = Buffer.from(`image ${n}`)
    const sha256 = createHash('sha256').update(body).digest('hex')
    return { key: `feedback/2026/11/23/${n}/1-ab.png`, body, contentType: 'image/png', sha256 }
  }
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
