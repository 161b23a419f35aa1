import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { createObjectStore, type ObjectStore, type StoredObject } from '@intake/object-store'

/** Opens a store until the test ends: the bucket `intake`, unless the settings say otherwise. */
export function openStore(
  t: Pick<Test, 'teardown'>,
  endpoint: string,
  settings: Partial<Parameters<typeof createObjectStore>[0]> = {},
): ObjectStore {
  const place = { bucket: 'intake', region: 'us-east-1', timeoutMs: 60_000 }
  const store = createObjectStore({ endpoint, ...place, ...settings })
  t.teardown(() => store.close())
  return store
}

export const body = Buffer.from('the bytes of an image')
/** An object with its right hash. */
export const objectAt = (key: string, bytes = body): StoredObject => ({
  key,
  body: bytes,
  contentType: 'image/png',
  sha256: createHash('sha256').update(bytes).digest('hex'),
})
