import { createApiKeyStore, type ApiKey } from '@intake/access'
import { countStored, erase, type Services } from '@intake/records'
import { pause } from '@intake/runtime'
import { confirmChange } from '../confirm-change.ts'
import { operator } from '../journal.ts'
import { allOfKey, noteSubject } from '../subjects.ts'
import { demoBundles } from './apps.ts'

/** The name of the keys that `intake demo` creates. A key is a demo's only with its rules, too. */
export const demoKeyName = 'intake demo'

/** After this time gateways know that a key is suspended. */
const knownMs = 5_000

export const isOfDemo = ({ name, bundleIdentifiers, revokedAt }: ApiKey): boolean =>
  name === demoKeyName && bundleIdentifiers.join() === demoBundles && revokedAt === null

export const findDemoKeys = async ({ redis }: Pick<Services, 'redis'>): Promise<ApiKey[]> =>
  (await createApiKeyStore({ redis }).list()).filter(isOfDemo)

/** The number of stored records of the keys, counting repeats. */
export async function countDemo({ clickhouse }: Services, keys: ApiKey[]): Promise<number> {
  let rows = 0
  for (const { id } of keys) rows += (await countStored(clickhouse, allOfKey(id))).records
  return rows
}

/** A key is revoked last, so that an interrupted removal finds it again. */
export async function removeDemo(
  services: Services,
  keys: readonly ApiKey[],
  options: { deadline: number; progress: (sentence: string) => void },
): Promise<{ events: number; feedback: number; objects: number; revoked: number }> {
  const { redis } = services
  const store = createApiKeyStore({ redis, who: operator() })
  const setAll = (state: 'suspended' | 'revoked', ids: readonly string[]) =>
    confirmChange(redis, () => Promise.all(ids.map((id) => store.setState(id, state))))
  const ids = keys.map(({ id }) => id)
  await setAll('suspended', ids)
  options.progress('waiting until gateways refuse the keys')
  await pause(knownMs)
  const removed = { events: 0, feedback: 0, objects: 0, revoked: 0 }
  const rest = { ...options, leavesReplacedParts: true }
  for (const id of ids) {
    const subject = allOfKey(id)
    const subjectKey = await noteSubject(redis, 'erasure-begun', subject)
    const report = await erase({ services, subject, subjectKey, ...rest })
    removed.events += report.tombstones.logs
    removed.feedback += report.tombstones.feedback
    removed.objects += report.objectsDeleted
    const { frames, rows, counts } = report.remaining
    // Nobody can read anything of the demo. ClickHouse may still have replaced parts.
    if (frames + rows + counts > 0) continue
    await setAll('revoked', [id])
    removed.revoked++
  }
  return removed
}
