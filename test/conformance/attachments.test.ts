import t from 'tap'
import { startS3 } from '@intake/engines'
import { createObjectStore, type StoredObject } from '@intake/object-store'
import { createMemoryAttachments } from '../../gateway/test/twins/attachments.ts'
import { createDataDir } from '@intake/test-kit/data-dir'
import { conforms, createFinder } from './attachments.ts'

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
  const store = createObjectStore({
    endpoint: server.url,
    bucket: 'intake',
    region: 'us-east-1',
    timeoutMs: 60_000,
  })
  t.teardown(() => store.close())
  await store.ensureBucket()
  await conforms(t, store, createFinder(server.url))
})
