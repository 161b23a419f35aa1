import { createApiKeyStore, createPolicyStore, type ApiKey } from '@intake/access'
import { countStored, erase, type ErasureReport, type Services } from '@intake/records'
import { confirmChange } from '../confirm-change.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'
import { demoBundles } from './apps.ts'

/** The name of the keys that `intake demo` creates. A key is a demo's only with its rules, too. */
export const demoKeyName = 'intake demo'

/** The widest period that ClickHouse can compare with the time of a row. */
const always = { from: new Date(0), to: new Date('2200-01-01') }

/** Returns the keys of demos that have not been removed. */
export async function findDemoKeys({ redis }: Pick<Services, 'redis'>): Promise<ApiKey[]> {
  const keys = await createApiKeyStore({ redis }).list()
  return keys.filter(
    ({ name, bundleIdentifiers, revokedAt }) =>
      name === demoKeyName && bundleIdentifiers.join() === demoBundles && revokedAt === null,
  )
}

/** The number of stored records of the keys, counting repeats. */
export async function countDemo({ clickhouse }: Services, keys: ApiKey[]): Promise<number> {
  let rows = 0
  for (const { id } of keys) {
    rows += (await countStored(clickhouse, { kind: 'api-key', id, ...always })).records
  }
  return rows
}

/**
 * Erases everything that demos have sent, like `intake purge`, and revokes their keys. A key is
 * revoked last, so that an interrupted removal finds it again.
 */
export async function removeDemo(
  services: Services,
  keys: readonly ApiKey[],
  options: { deadline: number; progress: (sentence: string) => void },
): Promise<ErasureReport[]> {
  const { redis } = services
  const store = createApiKeyStore({ redis })
  const setAll = (state: 'suspended' | 'revoked', ids: readonly string[]) =>
    confirmChange(redis, () => Promise.all(ids.map((id) => store.setState(id, state))))
  const ids = keys.map(({ id }) => id)
  await setAll('suspended', ids)
  await untilGatewaysKnow(options.progress)
  const reports: ErasureReport[] = []
  const subjectKey = await createPolicyStore({ redis }).subjectKey()
  for (const id of ids) {
    const subject = { kind: 'api-key', id, ...always } as const
    const report = await erase({ services, subject, subjectKey, ...options })
    reports.push(report)
    if (report.complete) await setAll('revoked', [id])
  }
  return reports
}
