import { createApiKeyStore, type ApiKey } from '@intake/access'
import { countStored, erase, type Services } from '@intake/records'
import { pause } from '@intake/runtime'
import { confirmChange } from '../confirm-change.ts'
import { operator } from '../journal.ts'
import { createProgress } from '../progress.ts'
import { allOfKey, noteSubject } from '../subjects.ts'
import { demoBundles } from './apps.ts'
import { knownMs } from './send.ts'

/** The name of the keys that `intake demo` creates. A key is a demo's only with its rules, too. */
export const demoKeyName = 'intake demo'

const removalMs = 60 * 60_000

export const findDemoKeys = async ({ redis }: Pick<Services, 'redis'>): Promise<ApiKey[]> =>
  (await createApiKeyStore({ redis }).list()).filter(
    ({ name, bundleIdentifiers, revokedAt }) =>
      name === demoKeyName && bundleIdentifiers.join() === demoBundles && revokedAt === null,
  )

/** The number of stored records of the keys, counting repeats. */
export async function countDemo({ clickhouse }: Services, keys: ApiKey[]): Promise<number> {
  let rows = 0
  for (const { id } of keys) rows += (await countStored(clickhouse, allOfKey(id))).records
  return rows
}

/** A key is revoked last, so that an interrupted removal finds it again. */
export async function removeDemo(services: Services, keys: readonly ApiKey[]) {
  const { redis } = services
  const store = createApiKeyStore({ redis, who: operator() })
  const deadline = performance.now() + removalMs
  const progress = createProgress()
  await confirmChange(redis, () =>
    Promise.all(keys.map(({ id }) => store.setState(id, 'suspended'))),
  )
  progress('waiting until gateways refuse the keys')
  await pause(knownMs)
  const removed = { events: 0, feedback: 0, objects: 0, keysLeft: keys.length }
  for (const { id } of keys) {
    const subject = allOfKey(id)
    const subjectKey = await noteSubject(redis, 'erasure-begun', subject)
    const options = { deadline, progress, leavesReplacedParts: true }
    const { tombstones, objectsDeleted, remaining } = await erase({
      ...options,
      services,
      subject,
      subjectKey,
    })
    removed.events += tombstones.logs
    removed.feedback += tombstones.feedback
    removed.objects += objectsDeleted
    // Nobody can read anything of the demo. ClickHouse may still have replaced parts.
    if (remaining.frames + remaining.rows + remaining.counts > 0) continue
    await confirmChange(redis, () => store.setState(id, 'revoked'))
    removed.keysLeft--
  }
  return removed
}
