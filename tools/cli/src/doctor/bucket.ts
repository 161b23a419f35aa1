import { hash, randomUUID } from 'node:crypto'
import {
  createObjectStore,
  describeStoreError,
  type ObjectStore,
  type ObjectStoreSettings,
} from '@intake/object-store'
import { finding, type Finding } from './finding.ts'

const timeoutMs = 5_000
/** Attachments begin with `feedback/`; the rights of the access key may be limited to such keys. */
const prefix = 'feedback/doctor-'

/** Tries every right that Intake needs, with an object of a few bytes, which it removes. */
export async function examineBucket(settings: ObjectStoreSettings): Promise<Finding[]> {
  const { bucket } = settings
  const store = createObjectStore({ ...settings, timeoutMs })
  const body = Buffer.from('intake doctor')
  const sha256 = hash('sha256', body)
  const key = `${prefix}${randomUUID()}.txt`
  const findings: Finding[] = []
  const attempt = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      findings.push(
        finding(
          'object_store',
          `an object of the bucket ${bucket} cannot be ${what}: ${describeStoreError(error)}`,
          'Check S3_ENDPOINT, S3_BUCKET and the other settings of the store, and give the access key the rights ' +
            'to put, get, list and delete objects of the bucket (docs/deploy/object-store.md).',
        ),
      )
      return false
    }
  }
  try {
    const isStored = await attempt('stored', () =>
      store.put({ key, body, contentType: 'text/plain', sha256 }),
    )
    if (!isStored) return findings
    await attempt('read', async () => {
      if (!(await store.get(key))?.equals(body))
        throw new Error('its content differs from what was stored')
    })
    await attempt('listed', async () => {
      if (!(await lists(store, key))) throw new Error('it is not in the list')
    })
    await attempt('removed', () => store.remove([key]))
    return findings
  } finally {
    store.close()
  }
}

async function lists(store: ObjectStore, key: string): Promise<boolean> {
  for await (const found of store.list(key)) if (found === key) return true
  return false
}
