import t from 'tap'
import type { StoredObject } from '@intake/object-store'
import { openStore } from '@intake/test-kit/open-store'
import { ownS3 } from '@intake/test-kit/own-services'
import { createMemoryAttachments } from '../../gateway/test/twins/attachments.ts'
import { conforms, createFinder } from './attachments.ts'

t.test('in memory', async (t) => {
  const objects = new Map<string, StoredObject>()
  await conforms(t, createMemoryAttachments(objects), async (key) => {
    const found = objects.get(key)
    return found && { body: found.body, contentType: found.contentType, sha256: found.sha256 }
  })
})

t.test('in S3', async (t) => {
  const server = await ownS3(t)
  const store = openStore(t, server.url)
  await store.ensureBucket()
  await conforms(t, store, createFinder(server.url))
})
